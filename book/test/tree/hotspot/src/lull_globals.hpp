  product(bool, LullTracking, true, \
  product(size_t, LullLocalBudget, 1, \
