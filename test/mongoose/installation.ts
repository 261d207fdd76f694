/**
 * The real Mongoose, versions 8 and 9.
 *
 * @module
 */

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { installation } from '../services/installation.ts'

/** The packages, as package.json names them. */
const PACKAGES = { 'Mongoose 8': 'mongoose8', 'Mongoose 9': 'mongoose' } as const

/** One of the versions. */
export type Version = keyof typeof PACKAGES
/** Both versions. */
export const VERSIONS: readonly Version[] = ['Mongoose 8', 'Mongoose 9']

/**
 * The module of a version, as `require` gives it. Its own types are not installed here: say which part of it a test uses.
 * The first call may take a minute.
 */
export async function mongoose<M>(version: Version): Promise<M> {
  const folder = await installation(import.meta.dirname)
  return createRequire(join(folder, 'package.json'))(PACKAGES[version])
}
