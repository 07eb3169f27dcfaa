return "GC.heap_dump";
