/** Which addresses are public: the others lead into the network of the server that sends. */

/** Ranges of IPv4 that are not public (RFC 6890): the first address, and how many bits a range has in common. */
const OWN_V4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  // Multicast, and what is reserved.
  ['224.0.0.0', 3],
]

/** Whether an IP address, of either kind, is public. What is no address is not. */
export function isPublicAddress(address: string): boolean {
  // Zones are of addresses in the own network.
  if (address.includes('%')) return false
  const written = address.includes(':') ? `[${address}]` : address
  if (!URL.canParse(`http://${written}`)) return false
  const { hostname } = new URL(`http://${written}`)
  if (hostname.startsWith('[')) return isPublicV6(groupsOf(hostname.slice(1, -1)))
  return V4.test(hostname) && isPublicV4(numberOf(hostname))
}

/** Whether a host of a URL is an address, or a name that leads to this machine or the own network by itself. */
export function isOwnHost(hostname: string): boolean {
  const name = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (name.includes(':') || V4.test(name)) return !isPublicAddress(name)
  return !name.includes('.') || /\.(?:localhost|local|internal|home\.arpa)$/.test(name)
}

const V4 = /^\d{1,3}(?:\.\d{1,3}){3}$/

function isPublicV4(number: number): boolean {
  return !OWN_V4.some(([first, bits]) => {
    const size = 2 ** (32 - bits)
    return Math.floor(number / size) === Math.floor(numberOf(first) / size)
  })
}

function numberOf(v4: string): number {
  return v4.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
}

/** The eight groups of an address, as a URL writes it. */
function groupsOf(v6: string): number[] {
  const [head = '', tail] = v6.split('::')
  const numbers = (part: string) =>
    (part === '' ? [] : part.split(':')).map((one) => Number.parseInt(one, 16))
  const [left, right] = [numbers(head), numbers(tail ?? '')]
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => 0), ...right]
}

/** Only the global unicast addresses are; an IPv4 address inside must be public itself. */
function isPublicV6(groups: readonly number[]): boolean {
  const [first = 0, second = 0, third = 0] = groups
  const [sixth, seventh = 0, last = 0] = groups.slice(5)
  const v4 = (high: number, low: number) => isPublicV4(high * 65_536 + low)
  const isZero = (from: number, to: number) => groups.slice(from, to).every((part) => part === 0)
  // Mapped, and NAT64.
  if (isZero(0, 5) && sixth === 0xffff) return v4(seventh, last)
  if (first === 0x64 && second === 0xff9b && isZero(2, 6)) return v4(seventh, last)
  if (first < 0x2000 || first > 0x3fff) return false
  // 6to4.
  if (first === 0x2002) return v4(second, third)
  // Special purposes (Teredo, ORCHID and others), and documentation.
  return (
    !(first === 0x2001 && (second < 0x200 || second === 0xdb8)) &&
    !(first === 0x3fff && second < 0x1000)
  )
}
