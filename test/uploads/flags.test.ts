/**
 * The atlas's flags, as a browser meets them: the seed uploads them, anybody opens them.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { expect, it, onTestFinished } from 'vitest'
import { diskFiles } from '../../adapters/files/disk.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { atlas } from '../../examples/atlas/app.ts'
import { seed } from '../../examples/atlas/seed.ts'
import { world } from '../../examples/atlas/source.ts'
import { strippedBytes } from '../../src/uploads/strip/stripped.ts'

const nothing = () => {}
const logger = { debug: nothing, info: nothing, warn: nothing, error: nothing }
const secret = 'a secret of at least thirty-two characters'

it('the flag of a country of the atlas is an image that a browser shows, and keeps', async () => {
  const root = mkdtempSync(join(tmpdir(), 'fieldgate-flags-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const app = atlas({ store: sqliteStore(), files: diskFiles({ root, secret }), secret, logger })
  onTestFinished(() => app.close())
  const { flag } = world()
  const countries = () =>
    world()
      .countries()
      .filter(({ code }) => ['BR', 'NP'].includes(code))
  expect(await seed(app, { countries, cities: () => [], flag: (code) => flag?.(code) })).toBe(true)
  const list = await app.handle(new Request('http://localhost/countries'))
  const { data } = (await list.json()) as { data: { code: string; flag: string }[] }
  expect(data.map(({ code }) => code).sort()).toEqual(['BR', 'NP'])
  for (const country of data) {
    const shown = await app.handle(new Request(`http://localhost${country.flag}`))
    expect(shown.status).toBe(200)
    expect(Object.fromEntries(shown.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-disposition': 'inline',
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=31536000, immutable',
    })
    const bytes = Buffer.from(await shown.arrayBuffer())
    const drawn = flag?.(country.code) ?? Buffer.alloc(0)
    expect(bytes.equals(await strippedBytes(drawn, 'image/png'))).toBe(true)
    expect((await sharp(bytes).raw().toBuffer()).length).toBeGreaterThan(50 * 50 * 3)
  }
})
