  product(bool, UseG1GC, false, "") product(uint, StressSeed, 0, "")
