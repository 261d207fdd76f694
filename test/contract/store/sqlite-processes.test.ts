import { describe, expect, it } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { child, run, verifyProcesses } from './processes.ts'

verifyProcesses('SQLite', (path) => sqliteStore({ path }))

describe('The driver of SQLite', () => {
  it('says nothing of node:sqlite being experimental, and leaves other warnings alone', async () => {
    const { stderr } = await run(process.execPath, [child, 'warn'])
    expect(stderr).toContain('a warning of the application')
    expect(stderr).not.toContain('SQLite')
  })
})
