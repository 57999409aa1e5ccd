import { BlockList, isIP } from 'node:net';

/** IPv4 networks that are not reachable over the public Internet (IANA special-purpose registry), and multicast. */
const PRIVATE_IPV4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local, with the metadata services of clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
];

/** IPv6 prefixes of 96 bits whose last 32 bits are the IPv4 address that is reached: IPv4-mapped and NAT64. */
const IPV4_IN_IPV6 = ['::ffff:', '64:ff9b::'];

/** The only IPv6 addresses that can be public. Loopback, link-local, unique local and multicast are outside of them. */
const POSSIBLY_PUBLIC_IPV6 = ['2000::/3', ...IPV4_IN_IPV6.map((prefix) => `${prefix}0.0.0.0/96`)];

/** Networks inside of `2000::/3` that are not public: protocol assignments with Teredo, documentation, 6to4. */
const PRIVATE_IPV6 = [
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  ...IPV4_IN_IPV6.flatMap((prefix) =>
    PRIVATE_IPV4.map((network) => {
      const [address, bits] = network.split('/');
      return `${prefix}${address}/${96 + Number(bits)}`;
    }),
  ),
];

const privateAddresses = blockListOf(PRIVATE_IPV4, 'ipv4');
const privateIpv6Addresses = blockListOf(PRIVATE_IPV6, 'ipv6');
const possiblyPublic = blockListOf(POSSIBLY_PUBLIC_IPV6, 'ipv6');

/** Whether an IPv4 or IPv6 address can be an address of the public Internet. False for any other text. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !privateAddresses.check(address, 'ipv4');
    case 6:
      // An address with a zone, such as `fe80::1%eth0`, is for one link.
      return (
        !address.includes('%') &&
        possiblyPublic.check(address, 'ipv6') &&
        !privateIpv6Addresses.check(address, 'ipv6')
      );
    default:
      return false;
  }
}

function blockListOf(networks: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}
