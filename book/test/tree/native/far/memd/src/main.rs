#[arg(long, value_name = "SIZE")]
memory: u64,
#[arg(long)]
forgotten_option: u64,
