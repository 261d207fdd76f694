import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { diskFiles } from '../../../adapters/files/disk.ts'
import { serve } from '../../../adapters/runtimes/node.ts'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { createApp, createRouter, defineModel } from '../../../src/index.ts'
import { recordedLog } from '../../records/service.ts'
import { seeds } from '../../runs.ts'
import { Wire } from './run.ts'

const Note = defineModel('Note', {
  fields: { label: z.string(), text: z.string().optional(), file: z.string().optional() },
  indexes: ['label'],
})

it.each(seeds(3))(
  'each request on a connection has its response, however it comes (seed %i)',
  async (seed) => {
    const root = await mkdtemp(join(tmpdir(), 'fieldgate-wire-'))
    onTestFinished(() => rm(root, { recursive: true, force: true }))
    const log = recordedLog()
    const files = diskFiles({ root, secret: 'a secret of at least thirty-two characters' })
    const app = createApp({ store: sqliteStore(), files, logger: log, env: {} })
    const upload = { fields: [{ name: 'file' }], allowedMimeTypes: ['application/pdf'] } as const
    const allowedFields = ['label', 'text', 'file'] as const
    app.mount(
      '/notes',
      createRouter({ model: Note, middlewares: [], query: ['label'], allowedFields, upload }),
    )
    // The server shares the thread of its clients: what they are late with is no fault of theirs.
    const patient = { keepAliveTimeout: 120_000, headersTimeout: 120_000 }
    const served = await serve(app, {
      ...patient,
      ...{ port: 0, hostname: '127.0.0.1', signals: false },
    })
    onTestFinished(() => served.close())
    const wire = new Wire(seed, Number(new URL(served.url).port))
    for (let round = 0; round < 20; round += 1) await wire.round(12)
    const notes = app.store.collection(Note)
    for (const [label, fate] of wire.fates) {
      const found = await notes.count({ label })
      expect([fate, found]).toEqual([
        fate,
        fate === 'stored' ? 1 : fate === 'never' ? 0 : Math.min(found, 1),
      ])
    }
    expect(log.lines.filter(({ level }) => level === 'error')).toEqual([])
  },
)
