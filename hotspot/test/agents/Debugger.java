// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import com.sun.jdi.Bootstrap;
import com.sun.jdi.LocalVariable;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.StackFrame;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.AttachingConnector;
import com.sun.jdi.connect.Connector;
import com.sun.jdi.event.BreakpointEvent;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.request.BreakpointRequest;
import java.util.Map;

/**
 * A debugger: attaches to a port, and with "locals" reads the local variables at one breakpoint, which it takes away then.
 * Prints "attached", and stays until its standard input ends.
 */
public class Debugger {
    static VirtualMachine attach(String port) throws Exception {
        for (AttachingConnector connector : Bootstrap.virtualMachineManager().attachingConnectors()) {
            if (connector.name().equals("com.sun.jdi.SocketAttach")) {
                Map<String, Connector.Argument> arguments = connector.defaultArguments();
                arguments.get("port").setValue(port);
                return connector.attach(arguments);
            }
        }
        throw new IllegalStateException("this JDK has no connector for sockets");
    }

    static void readLocals(VirtualMachine vm) throws Exception {
        BreakpointRequest breakpoint = vm.eventRequestManager().createBreakpointRequest(
            vm.classesByName("Service").get(0).methodsByName("answer").get(0).locationsOfLine(LINE).get(0));
        breakpoint.setSuspendPolicy(BreakpointRequest.SUSPEND_EVENT_THREAD);
        breakpoint.enable();
        for (;;) {
            EventSet events = vm.eventQueue().remove();
            for (Event event : events) {
                if (event instanceof BreakpointEvent hit) {
                    StackFrame frame = hit.thread().frame(0);
                    int objects = 0;
                    for (LocalVariable variable : frame.visibleVariables()) {
                        if (frame.getValue(variable) instanceof ObjectReference) {
                            objects++;
                        }
                    }
                    vm.eventRequestManager().deleteEventRequest(breakpoint);
                    events.resume();
                    if (objects == 0) {
                        throw new IllegalStateException("no local variable at the breakpoint is an object");
                    }
                    return;
                }
            }
            events.resume();
        }
    }

    /** "int length = 0;" in Service.answer. */
    private static final int LINE = Integer.getInteger("line");

    public static void main(String[] arguments) throws Exception {
        VirtualMachine vm = attach(arguments[0]);
        if (arguments[1].equals("locals")) {
            readLocals(vm);
        }
        System.out.println("attached");
        while (System.in.read() >= 0) {
            // Nothing is said there.
        }
        vm.dispose();
    }
}
