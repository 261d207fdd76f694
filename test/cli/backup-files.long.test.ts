import { constants, type Dirent } from 'node:fs'
import { copyFile, mkdir, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { diskFiles } from '../../adapters/files/disk.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { createApp, createRouter, defineModel } from '../../src/index.ts'
import { project } from './project.ts'

const APP = `
import * as z from 'zod'
import { createApp, defineModel } from 'fieldgate'
import { sqliteStore } from 'fieldgate/sqlite'

const Photo = defineModel('Photo', { fields: { image: z.string() } })
export const app = createApp({ store: sqliteStore({ path: new URL('app.db', import.meta.url).pathname }) })
app.store.collection(Photo)
`
const Photo = defineModel('Photo', { fields: { image: z.string() } })
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

/** An app with photos in a folder: its database, and its files below `uploads`. */
function album(folder: string) {
  const app = createApp({
    store: sqliteStore({ path: join(folder, 'app.db') }),
    files: diskFiles({ root: join(folder, 'uploads'), secret: 'x'.repeat(32) }),
  })
  const upload = { path: 'photos/', acl: 'public-read', fields: [{ name: 'image' }] } as const
  const allowedMimeTypes = ['image/gif']
  app.mount(
    '/photos',
    createRouter({
      model: Photo,
      middlewares: [],
      allowedFields: ['image'],
      upload: { ...upload, allowedMimeTypes },
    }),
  )
  const ask = (path: string, init?: RequestInit) =>
    app.handle(new Request(new URL(path, 'http://localhost'), init))
  return { app, ask }
}

async function upload(ask: ReturnType<typeof album>['ask']): Promise<string> {
  const body = new FormData()
  body.set('image', new File([PIXEL], 'pixel.gif', { type: 'image/gif' }))
  const response = await ask('/photos', { method: 'POST', body })
  expect(response.status).toBe(201)
  return (await response.json()).data._id
}

/** What `rsync -a` without `--delete` does: files that are new are copied, and those that vanish meanwhile left out. */
async function copyNew(from: string, to: string): Promise<void> {
  const below: Dirent[] = await readdir(from, { recursive: true, withFileTypes: true })
  for (const entry of below.filter((found) => found.isFile())) {
    const path = join(entry.parentPath, entry.name)
    const copy = join(to, path.slice(from.length))
    await mkdir(dirname(copy), { recursive: true })
    await copyFile(path, copy, constants.COPYFILE_EXCL).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST' && error.code !== 'ENOENT') throw error
    })
  }
}

it('files that are copied before and after the records leave no record without its file', async () => {
  const { folder, fieldgate, remove } = await project({ 'app.ts': APP })
  onTestFinished(() => remove())
  const { app, ask } = album(folder)
  const old: string[] = []
  for (let at = 0; at < 200; at += 1) old.push(await upload(ask))
  const [uploads, backup] = [join(folder, 'uploads'), join(folder, 'backup')]
  await mkdir(backup)

  let isOver = false
  const using = (async () => {
    let uploaded = 0
    for (; !isOver || uploaded === 0; uploaded += 1) {
      await upload(ask)
      const removed = old.pop()
      if (removed) await ask(`/photos/${removed}`, { method: 'DELETE' })
    }
    return uploaded
  })()
  await copyNew(uploads, join(backup, 'uploads'))
  const made = await fieldgate('backup', './app.ts', '--to', 'backup/app.db')
  expect(made).toMatchObject({ code: 0, err: '' })
  await copyNew(uploads, join(backup, 'uploads'))
  isOver = true
  await using
  await app.close()

  const restored = album(backup)
  onTestFinished(() => restored.app.close())
  const photos = await restored.app.store.collection(Photo).find({})
  expect(photos.length).toBeGreaterThan(0)
  const missing: string[] = []
  for (const { image } of photos) {
    const response = await restored.ask(image)
    if (response.status !== 200 || !PIXEL.equals(Buffer.from(await response.arrayBuffer()))) {
      missing.push(image)
    }
  }
  expect(missing).toEqual([])
})
