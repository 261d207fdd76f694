/**
 * SIGTERM under load, a few times; `node -C fieldgate-source test/faults/shutdown/run.ts --runtime deno` does it 50 times.
 */

import { expect, it } from 'vitest'
import { runs } from '../../runs.ts'
import { shutDownUnderLoad } from './run.ts'

const ROUNDS = runs(2)
const CLIENTS = 8

it.each(['node', 'deno', 'bun'])(
  'SIGTERM under load breaks no request that was sent before it, and closes the store, on %s',
  async (runtime) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const after = await shutDownUnderLoad(runtime, CLIENTS)
      expect(after).toMatchObject({ broken: 0, lost: 0, isClosed: true, exitCode: 0 })
      expect(after.written).toBeGreaterThan(0)
    }
  },
  60_000,
)
