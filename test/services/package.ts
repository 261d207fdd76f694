/**
 * The modules of the package, as users get them but for their declarations. A program that loads them starts three
 * times as fast as one that loads the sources.
 *
 * @module
 */

import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from '../../scripts/bundle.ts'

/** The folder that a project links as `node_modules/fieldgate`. */
export interface Package {
  readonly folder: string
  stop(): Promise<void>
}

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Bundles the sources. */
export async function packageOfSources(): Promise<Package> {
  const folders = join(root, '.cache/package')
  await mkdir(folders, { recursive: true })
  const folder = await mkdtemp(join(folders, 'modules-'))
  await bundle(join(folder, 'dist'))
  await cp(join(root, 'package.json'), join(folder, 'package.json'))
  return { folder, stop: () => rm(folder, { recursive: true, force: true }) }
}
