/**
 * An npm registry with packages that are not published yet. What else it is asked for, the usual one has.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** A registry that runs. */
export interface Registry {
  readonly url: string
  stop(): Promise<void>
}

/** A packed package, by its folder and its tarball. */
export interface Packed {
  readonly folder: string
  readonly tarball: string
}

/** Serves `packages` on a free port. */
export async function registryOf(packages: readonly Packed[]): Promise<Registry> {
  const { stdout } = await promisify(execFile)('npm', ['config', 'get', 'registry'])
  const usual = stdout.trim().replace(/\/$/, '')
  const known = new Map(packages.map((each) => [manifestOf(each).name, each]))
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    const [, name = ''] = /^\/((?:@[^/]+\/)?[^/]+)/.exec(decodeURIComponent(path)) ?? []
    const asked = known.get(name)
    if (!asked) return void response.writeHead(302, { Location: `${usual}${path}` }).end()
    if (path.endsWith('.tgz')) return void response.end(readFileSync(asked.tarball))
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify(documentOf(asked, `http://${request.headers.host}`)))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function manifestOf({ folder }: Packed): { readonly name: string; readonly version: string } {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

/** What a registry tells of a package. */
function documentOf(packed: Packed, url: string): object {
  const manifest = manifestOf(packed)
  const { name, version } = manifest
  const integrity = `sha512-${createHash('sha512').update(readFileSync(packed.tarball)).digest('base64')}`
  const dist = { tarball: `${url}/${name}/-/${name}-${version}.tgz`, integrity }
  return { name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } }
}
