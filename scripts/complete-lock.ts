/**
 * `npm run lock`, after a change of dependencies: names in package-lock.json the binaries of all platforms.
 *
 * npm leaves out of the lockfile what it cannot load where it runs (npm/cli#4828), and `npm ci` then refuses the
 * lockfile everywhere. What is put back has no integrity; npm takes it from the registry on the platforms that
 * need it.
 *
 * @module
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

interface Locked {
  readonly version?: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const file = fileURLToPath(new URL('../package-lock.json', import.meta.url))
const lock = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, Locked> }

const SYSTEMS = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
]
const PROCESSORS = ['arm', 'arm64', 'ia32', 'loong64', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64']
const SPELLINGS: Readonly<Record<string, string>> = {
  windows: 'win32',
  64: 'x64',
  aarch64: 'arm64',
}

/** What a binary's name says of the platform that it is for. */
function platformOf(name: string): object {
  const words = name.split(/[/-]/).map((word) => SPELLINGS[word] ?? word)
  const os = words.filter((word) => SYSTEMS.includes(word))
  const cpu = words.filter((word) => PROCESSORS.includes(word))
  const libc = words.some((word) => word.startsWith('musl')) ? { libc: ['musl'] } : {}
  return { ...(os.length > 0 && { os }), ...(cpu.length > 0 && { cpu }), ...libc }
}

const added: string[] = []
for (const [parent, { optionalDependencies = {} }] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const places = [`${parent}/node_modules/${name}`, `node_modules/${name}`]
    if (places.some((place) => place in lock.packages) || !/^\d/.test(version)) continue
    lock.packages[`node_modules/${name}`] = {
      version,
      dev: true,
      optional: true,
      ...platformOf(name),
    } as Locked
    added.push(`${name}@${version}`)
  }
}

lock.packages = Object.fromEntries(
  Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en')),
)
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
console.log(added.length > 0 ? `Named: ${added.join(', ')}` : 'Nothing was missing.')
