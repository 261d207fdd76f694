/**
 * Which version a release may have.
 *
 * @module
 */

/** As semver.org has it, without build metadata: npm ignores that. */
const VERSION =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/

/**
 * Throws unless `next` is a version that can follow `current`, the one in package.json, and the `released` ones. The current
 * one itself can be released once: so the first release keeps its number.
 */
export function checkVersion(next: string, current: string, released: readonly string[]): void {
  if (!VERSION.test(next)) throw new Error(`'${next}' is not a version, such as 1.2.3`)
  if (released.includes(next)) throw new Error(`${next} is released already`)
  const last = [current, ...released].reduce((one, other) =>
    compareVersions(one, other) < 0 ? other : one,
  )
  if (compareVersions(next, last) < 0) throw new Error(`${next} is older than ${last}`)
}

/** The newest of `versions`, or undefined for none. */
export function newest(versions: readonly string[]): string | undefined {
  return versions.toSorted(compareVersions).at(-1)
}

/** Negative where `one` comes before `other`, positive where it comes after it. */
export function compareVersions(one: string, other: string): number {
  const [numbers, tag] = partsOf(one)
  const [others, otherTag] = partsOf(other)
  for (const [at, number] of numbers.entries()) {
    const difference = number - (others[at] ?? 0)
    if (difference !== 0) return difference
  }
  // A version comes after its own pre-releases.
  if (tag === '' || otherTag === '') return (tag === '' ? 1 : 0) - (otherTag === '' ? 1 : 0)
  return comparePreReleases(tag.split('.'), otherTag.split('.'))
}

function comparePreReleases(one: readonly string[], other: readonly string[]): number {
  for (const [at, part] of one.entries()) {
    const against = other[at]
    // The longer one is newer where all else is equal.
    if (against === undefined) return 1
    if (part !== against) return compareParts(part, against)
  }
  return one.length - other.length
}

/** Numbers come by their value, and before words. */
function compareParts(one: string, other: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(one), /^\d+$/.test(other)]
  if (isNumber && isOtherNumber) return Number(one) - Number(other)
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1
  return one < other ? -1 : 1
}

function partsOf(version: string): [number[], string] {
  const [, major, minor, patch, tag = ''] = VERSION.exec(version) ?? []
  return [[major, minor, patch].map(Number), tag]
}
