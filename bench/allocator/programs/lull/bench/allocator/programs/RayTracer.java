// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.allocator.programs;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32;

/**
 * A ray tracer like SPECjvm98's raytrace: a scene of random spheres over a floor, shadows, mirrors, a tree of bounding boxes; every vector, ray
 * and hit is an object. {@code RayTracer [seed [width [spheres [threads]]]]}. Only + - * / and square roots, so that the picture is the same everywhere.
 *
 * <p>Checked: every 211th pixel is traced again without the tree, and must be equal.
 */
public final class RayTracer {
    private static final double FAR = 1e30;
    private static final double NEAR = 1e-6;
    private static final int DEPTH = 4;

    record Vector(double x, double y, double z) {
        Vector plus(Vector o) { return new Vector(x + o.x, y + o.y, z + o.z); }
        Vector minus(Vector o) { return new Vector(x - o.x, y - o.y, z - o.z); }
        Vector times(double f) { return new Vector(x * f, y * f, z * f); }
        double dot(Vector o) { return x * o.x + y * o.y + z * o.z; }
        Vector unit() { return times(1 / Math.sqrt(dot(this))); }
    }

    record Ray(Vector from, Vector to) {
        Vector at(double t) { return from.plus(to.times(t)); }
    }

    record Hit(double distance, Shape shape) { }

    /** What a ray can meet. */
    interface Shape {
        /** The distance along {@code ray}, FAR if it does not meet. */
        double meet(Ray ray);
        Vector normal(Vector at);
        Vector colour(Vector at);
        double mirror();
    }

    record Sphere(Vector centre, double radius, Vector paint, double mirror) implements Shape {
        @Override public double meet(Ray ray) {
            Vector between = centre.minus(ray.from);
            double along = between.dot(ray.to);
            double inside = radius * radius - between.dot(between) + along * along;
            if (inside < 0) {
                return FAR;
            }
            double half = Math.sqrt(inside);
            return along - half > NEAR ? along - half : along + half > NEAR ? along + half : FAR;
        }
        @Override public Vector normal(Vector at) { return at.minus(centre).unit(); }
        @Override public Vector colour(Vector at) { return paint; }
    }

    record Floor() implements Shape {
        @Override public double meet(Ray ray) {
            double t = ray.to.y == 0 ? FAR : -ray.from.y / ray.to.y;
            return t > NEAR ? t : FAR;
        }
        @Override public Vector normal(Vector at) { return new Vector(0, 1, 0); }
        @Override public Vector colour(Vector at) {
            boolean dark = (((long) Math.floor(at.x) ^ (long) Math.floor(at.z)) & 1) == 0;
            return dark ? new Vector(0.2, 0.2, 0.25) : new Vector(0.9, 0.9, 0.8);
        }
        @Override public double mirror() { return 0.1; }
    }

    /** A node of the tree: its box, and two halves or some spheres. */
    record Node(Vector low, Vector high, Node left, Node right, List<Sphere> spheres) {
        static Node of(List<Sphere> spheres, int axis) {
            Vector low = new Vector(FAR, FAR, FAR);
            Vector high = new Vector(-FAR, -FAR, -FAR);
            for (Sphere s : spheres) {
                Vector c = s.centre;
                double r = s.radius;
                low = new Vector(Math.min(low.x, c.x - r), Math.min(low.y, c.y - r), Math.min(low.z, c.z - r));
                high = new Vector(Math.max(high.x, c.x + r), Math.max(high.y, c.y + r), Math.max(high.z, c.z + r));
            }
            if (spheres.size() <= 4) {
                return new Node(low, high, null, null, spheres);
            }
            List<Sphere> sorted = new ArrayList<>(spheres);
            sorted.sort(Comparator.comparingDouble(s -> axis == 0 ? s.centre.x : axis == 1 ? s.centre.y : s.centre.z));
            int middle = sorted.size() / 2;
            return new Node(low, high, of(new ArrayList<>(sorted.subList(0, middle)), (axis + 1) % 3),
                    of(new ArrayList<>(sorted.subList(middle, sorted.size())), (axis + 1) % 3), null);
        }

        boolean isMetBy(Ray ray) {
            double from = 0;
            double to = FAR;
            double[] lows = {low.x, low.y, low.z};
            double[] highs = {high.x, high.y, high.z};
            double[] start = {ray.from.x, ray.from.y, ray.from.z};
            double[] way = {ray.to.x, ray.to.y, ray.to.z};
            for (int axis = 0; axis < 3; axis++) {
                double a = (lows[axis] - 1e-9 - start[axis]) / way[axis];
                double b = (highs[axis] + 1e-9 - start[axis]) / way[axis];
                if (a == a && b == b) {   // neither is NaN
                    from = Math.max(from, Math.min(a, b));
                    to = Math.min(to, Math.max(a, b));
                }
            }
            return from <= to * (1 + 1e-12);
        }

        Hit meet(Ray ray, Hit best) {
            if (!isMetBy(ray)) {
                return best;
            }
            if (spheres == null) {
                return right.meet(ray, left.meet(ray, best));
            }
            for (Sphere sphere : spheres) {
                best = nearer(sphere, ray, best);
            }
            return best;
        }
    }

    private static Hit nearer(Shape shape, Ray ray, Hit best) {
        double distance = shape.meet(ray);
        return distance < best.distance ? new Hit(distance, shape) : best;
    }

    private final int width;
    private final int height;
    private final List<Sphere> spheres = new ArrayList<>();
    private final Floor floor = new Floor();
    private final Node tree;
    private final Vector light = new Vector(-6, 12, -8);
    private final Vector eye = new Vector(0, 3, -9);

    RayTracer(int seed, int width, int count) {
        this.width = width;
        this.height = width * 3 / 4;
        Random random = new Random(seed);
        for (int i = 0; i < count; i++) {
            double radius = 0.15 + 0.5 * random.nextDouble();
            Vector centre = new Vector(12 * random.nextDouble() - 6, radius + 3 * random.nextDouble(), 14 * random.nextDouble() - 2);
            spheres.add(new Sphere(centre, radius, new Vector(random.nextDouble(), random.nextDouble(), random.nextDouble()),
                    random.nextInt(3) == 0 ? 0.5 : 0.05));
        }
        tree = Node.of(spheres, 0);
    }

    private Hit meet(Ray ray, boolean withTree) {
        Hit best = nearer(floor, ray, new Hit(FAR, null));
        if (withTree) {
            return tree.meet(ray, best);
        }
        for (Sphere sphere : spheres) {
            best = nearer(sphere, ray, best);
        }
        return best;
    }

    private Vector trace(Ray ray, int depth, boolean withTree) {
        Hit hit = meet(ray, withTree);
        if (hit.shape == null) {
            return new Vector(0.4, 0.6, 0.9).times(0.5 + 0.5 * ray.to.y);
        }
        Vector at = ray.at(hit.distance);
        Vector normal = hit.shape.normal(at);
        Vector toLight = light.minus(at);
        double distance = Math.sqrt(toLight.dot(toLight));
        Vector way = toLight.times(1 / distance);
        double shade = 0.15;
        if (way.dot(normal) > 0 && meet(new Ray(at.plus(normal.times(1e-5)), way), withTree).distance > distance) {
            shade += 0.85 * way.dot(normal);
        }
        Vector colour = hit.shape.colour(at).times(shade);
        double mirror = hit.shape.mirror();
        if (depth < DEPTH && mirror > 0) {
            Vector back = ray.to.minus(normal.times(2 * ray.to.dot(normal))).unit();
            Vector seen = trace(new Ray(at.plus(normal.times(1e-5)), back), depth + 1, withTree);
            colour = colour.times(1 - mirror).plus(seen.times(mirror));
        }
        return colour;
    }

    private int pixel(int x, int y, boolean withTree) {
        Vector way = new Vector((x - width / 2.0) / width * 1.2, (height / 2.0 - y) / width * 1.2 - 0.15, 1).unit();
        Vector colour = trace(new Ray(eye, way), 0, withTree);
        return level(colour.x) << 16 | level(colour.y) << 8 | level(colour.z);
    }

    private static int level(double value) {
        return (int) Math.clamp(value * 255, 0, 255);
    }

    private void render(int[] image, int from, int to) {
        for (int y = from; y < to; y++) {
            for (int x = 0; x < width; x++) {
                image[y * width + x] = pixel(x, y, true);
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int seed = Outcome.argument(args, 0, 1, 0, Integer.MAX_VALUE);
        int width = Outcome.argument(args, 1, 24, 8, 4000);
        int count = Outcome.argument(args, 2, 2000, 1, 100_000);
        int threads = Outcome.argument(args, 3, 1, 1, 64);
        RayTracer tracer = new RayTracer(seed, width, count);
        int[] image = new int[tracer.width * tracer.height];
        List<Thread> helpers = new ArrayList<>();
        for (int i = 1; i < threads; i++) {
            int from = tracer.height * i / threads;
            int to = tracer.height * (i + 1) / threads;
            helpers.add(Thread.ofPlatform().start(() -> tracer.render(image, from, to)));
        }
        tracer.render(image, 0, tracer.height / threads);
        for (Thread helper : helpers) {
            helper.join();
        }
        CRC32 sum = new CRC32();
        for (int i = 0; i < image.length; i++) {
            sum.update(image[i] >> 16);
            sum.update(image[i] >> 8);
            sum.update(image[i]);
            if (i % 211 == 0) {
                int again = tracer.pixel(i % tracer.width, i / tracer.width, false);
                Outcome.check(image[i] == again, "pixel " + i + " is " + image[i] + " and without the tree " + again);
            }
        }
        System.out.printf("raytrace: %d x %d pixels, %d threads, checksum %08x%n", tracer.width, tracer.height, threads, sum.getValue());
    }
}
