// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Networks, as options name them: an address, and how many of its bits are the network's.

#![deny(missing_docs)]

use std::net::IpAddr;
use std::str::FromStr;

/// A network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

impl Network {
    /// Whether an address is in it. An IPv4 address that is written in IPv6 is what it stands for.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let differs = match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => (u32::from(own) ^ u32::from(other)).leading_zeros(),
            (IpAddr::V6(own), IpAddr::V6(other)) => (u128::from(own) ^ u128::from(other)).leading_zeros(),
            _ => return false,
        };
        differs >= self.bits.into()
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Network, String> {
        let help = || format!("{text:?} is no network: say an address, or one with its bits, as 10.0.0.0/24");
        let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address = address.parse::<IpAddr>().map_err(|_| help())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(most), |bits| bits.parse().map_err(|_| help()))?;
        if bits > most {
            return Err(help());
        }
        // An IPv4 address that is written in IPv6 is what it stands for: so is each address that is asked about.
        match address.to_canonical() {
            IpAddr::V4(_) if address.is_ipv6() && bits < 96 => {
                Err(format!("{text:?} is more than the IPv4 addresses in IPv6, and less than all: say one of both kinds"))
            }
            canonical => Ok(Network { address: canonical, bits: if canonical.is_ipv4() && address.is_ipv6() { bits - 96 } else { bits } }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_has_its_addresses_only() {
        for (network, address, inside) in [
            ("10.0.0.0/24", "10.0.0.255", true),
            ("10.0.0.0/24", "10.0.1.0", false),
            ("10.0.0.7", "10.0.0.7", true),
            ("10.0.0.7", "10.0.0.6", false),
            ("10.0.0.7/32", "::ffff:10.0.0.7", true),
            ("::ffff:10.0.0.7", "10.0.0.7", true),
            ("::ffff:10.0.0.7", "::ffff:10.0.0.7", true),
            ("::ffff:10.0.0.7", "10.0.0.6", false),
            ("::ffff:10.0.0.0/120", "10.0.0.255", true),
            ("::ffff:10.0.0.0/120", "10.0.1.0", false),
            ("::ffff:0:0/96", "192.0.2.1", true),
            ("::ffff:0:0/96", "fd00::1", false),
            ("0.0.0.0/0", "169.254.169.254", true),
            ("0.0.0.0/0", "::1", false),
            ("fd00::/8", "fd12::3", true),
            ("fd00::/8", "fe80::3", false),
            ("::1", "::1", true),
        ] {
            let network: Network = network.parse().unwrap();
            assert_eq!(network.contains(address.parse().unwrap()), inside, "{address} in {network:?}");
        }
        let text = "::ffff:0:0/95".parse::<Network>().unwrap_err();
        assert!(text.contains("say one of both kinds"), "{text}");
        for text in ["", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0/8", "10.0.0.0/8/8", "host/8", "10.0.0.0/-1"] {
            assert!(text.parse::<Network>().unwrap_err().contains("say an address"), "{text}");
        }
    }
}
