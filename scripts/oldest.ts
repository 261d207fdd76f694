/**
 * `npm run -s oldest`: the oldest version of each package that the ranges of package.json allow, to be installed before the
 * tests. CONTRIBUTING.md says how.
 *
 * @module
 */

import { readFileSync } from 'node:fs'

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
}

const manifest = new URL('../package.json', import.meta.url)
const { dependencies, peerDependencies } = JSON.parse(readFileSync(manifest, 'utf8')) as Manifest

for (const [name, range] of Object.entries({ ...dependencies, ...peerDependencies })) {
  // A range begins with the oldest version that is in it.
  console.log(`${name}@${range.match(/\d+\.\d+\.\d+/)?.[0]}`)
}
