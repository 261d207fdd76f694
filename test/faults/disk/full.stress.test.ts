/** A full disk, once; `npm run faults -- disk` fills it again and again. */

import { expect, it } from 'vitest'
import { RUNTIMES } from '../../runtimes/commands.ts'
import { fillDisk } from './full.ts'

it.each(Object.keys(RUNTIMES))(
  '%s: a full disk refuses writes, loses none that was acknowledged, and is used again when it has room',
  async (runtime) => {
    const toll = await fillDisk({ writers: 4, refusals: 20 }, runtime)
    expect(toll).toMatchObject({ lost: 0, phantom: 0, resurrected: 0, duplicate: 0, halfFiles: 0 })
    expect(toll.wrong).toEqual([])
    expect(toll.acknowledged).toBeGreaterThan(0)
    expect(toll.reads).toBeGreaterThan(0)
  },
  120_000,
)
