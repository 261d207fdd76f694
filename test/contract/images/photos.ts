/**
 * Real photographs: a cat and a mandrill (`photographs/README.md` says whose they are).
 *
 * @module
 */

import { readFileSync } from 'node:fs'
import sharp from 'sharp'
import type { OptimizedType } from '../../../src/index.ts'

/** A photograph as a file. */
export interface Photo {
  readonly name: string
  readonly type: OptimizedType
  readonly bytes: Uint8Array
}

const file = (name: string): Uint8Array =>
  new Uint8Array(readFileSync(new URL(`photographs/${name}`, import.meta.url)))

/** The cat as its photographer left it: 800 × 1042. */
export const cat: Photo = {
  name: 'cat.jpg, 800 × 1042',
  type: 'image/jpeg',
  bytes: file('cat.jpg'),
}

/** The mandrill, without loss: 512 × 512. */
export const mandrill: Photo = {
  name: 'mandrill.png, 512 × 512',
  type: 'image/png',
  bytes: file('mandrill.png'),
}

/** The cat made smaller, without loss. */
export const catPng: Photo = {
  name: 'cat.png, 320 × 417',
  type: 'image/png',
  bytes: new Uint8Array(await sharp(cat.bytes).resize(320, 417).png().toBuffer()),
}

/** The mandrill as a WebP image. */
export async function mandrillWebp(): Promise<Photo> {
  const bytes = await sharp(mandrill.bytes).webp({ quality: 90 }).toBuffer()
  return { name: 'mandrill.webp, 512 × 512', type: 'image/webp', bytes: new Uint8Array(bytes) }
}

/** The cat enlarged to the size of a camera's images, over 1 MiB. */
export async function largeCat(): Promise<Photo> {
  const bytes = await sharp(cat.bytes).resize(2400).jpeg({ quality: 97 }).toBuffer()
  return { name: 'cat.jpg enlarged, 2400 × 3126', type: 'image/jpeg', bytes: new Uint8Array(bytes) }
}

/** The cat as a camera held sideways keeps it: the pixels lie on their side, and EXIF says how to turn them. */
export async function lyingCat(): Promise<Photo> {
  const bytes = await sharp(cat.bytes)
    .rotate(-90)
    .withExif({ IFD0: { Copyright: 'somebody', Make: 'a camera' } })
    .withMetadata({ orientation: 6 })
    .jpeg({ quality: 92 })
    .toBuffer()
  return { name: 'cat.jpg lying, turned by EXIF', type: 'image/jpeg', bytes: new Uint8Array(bytes) }
}

/** The mean difference of a channel, 0 to 255, between two images of one size. */
export async function difference(one: Uint8Array, other: Uint8Array): Promise<number> {
  const pixels = (bytes: Uint8Array) =>
    sharp(bytes)
      .autoOrient()
      .flatten()
      .toColourspace('srgb')
      .raw()
      .toBuffer({ resolveWithObject: true })
  const [a, b] = await Promise.all([pixels(one), pixels(other)])
  if (a.info.width !== b.info.width || a.info.height !== b.info.height) return 255
  let sum = 0
  for (const [index, value] of a.data.entries()) sum += Math.abs(value - (b.data[index] ?? 0))
  return sum / a.data.length
}
