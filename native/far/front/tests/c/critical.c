/* SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0 */
/*
 * Gives the contents of Java arrays to the kernel, by system calls of its own: no function of the C library that somebody could stand in for.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <jni.h>
#include <sys/syscall.h>
#include <unistd.h>

static jlong call(JNIEnv* env, long number, jint fd, jbyteArray array, jlong offset) {
  jsize bytes = (*env)->GetArrayLength(env, array);
  void* contents = (*env)->GetPrimitiveArrayCritical(env, array, NULL);
  long result = syscall(number, fd, contents, (size_t)bytes, (off_t)offset);
  int error = errno;
  (*env)->ReleasePrimitiveArrayCritical(env, array, contents, 0);
  return result < 0 ? -error : result;
}

JNIEXPORT jlong JNICALL Java_Kernel_writeCritical(JNIEnv* env, jclass class, jint fd, jbyteArray array) {
  (void)class;
  return call(env, SYS_write, fd, array, 0);
}

JNIEXPORT jlong JNICALL Java_Kernel_readCritical(JNIEnv* env, jclass class, jint fd, jbyteArray array, jlong offset) {
  (void)class;
  return call(env, SYS_pread64, fd, array, offset);
}

JNIEXPORT jint JNICALL Java_Kernel_open(JNIEnv* env, jclass class, jstring name) {
  (void)class;
  const char* path = (*env)->GetStringUTFChars(env, name, NULL);
  int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
  (*env)->ReleaseStringUTFChars(env, name, path);
  return fd;
}
