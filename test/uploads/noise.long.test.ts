import { randomFillSync } from 'node:crypto'
import sharp from 'sharp'
import { expect, it } from 'vitest'
import { sharpImages } from '../../adapters/images/sharp.ts'
import { processorClock } from '../limits/processor-time.ts'
import { album } from './album.ts'
import { form } from './png.ts'

it('a PNG image of noise ends with the five seconds that it has', async () => {
  const side = 1500
  const data = randomFillSync(Buffer.alloc(side * side * 3))
  const raw = { width: side, height: side, channels: 3 } as const
  const image = new Uint8Array(await sharp(data, { raw }).png().toBuffer())
  const { upload } = album({ upload: { imgOptimizations: 'high' }, app: { images: sharpImages() } })
  const passed = processorClock()
  expect((await upload('POST', '/photos', form({ title: 'x', image }))).status).toBe(201)
  expect(passed()).toBeLessThan(7000)
}, 300_000)
