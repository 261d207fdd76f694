/**
 * The contract of file stores: a folder.
 */

import { rmSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { diskFiles } from '../../../adapters/files/disk.ts'
import { type R2Binding, r2Files } from '../../../adapters/files/r2.ts'
import { fileContract, type OpenFiles, verify } from '../../../extras/contract/index.ts'
import { served } from './served.ts'

const SECRET = 'a secret of at least thirty-two characters'

interface Folder extends OpenFiles {
  readonly root: string
}

async function open(): Promise<Folder> {
  const root = await mkdtemp(join(tmpdir(), 'fieldgate-disk-'))
  const clock = { at: Date.now() }
  const files = diskFiles({ root, secret: SECRET, now: () => clock.at })
  return {
    root,
    files,
    pass: (seconds) => {
      clock.at += seconds * 1000
    },
    get: served(files),
  }
}

const close = ({ root }: Folder) => rm(root, { recursive: true })

verify('a folder on disk', fileContract, { open, close }, { describe, it })

async function opened(): Promise<Folder> {
  const folder = await open()
  onTestFinished(() => close(folder))
  return folder
}

const meta = { contentType: 'image/png', contentDisposition: 'inline', acl: 'public-read' } as const

it('a folder on disk keeps an object as a plain file, readable by its owner alone, and nothing beside it', async () => {
  const { files, root } = await opened()
  await files.put('files/1-a.png', new Uint8Array([1, 2, 3]), { ...meta, size: 3 })
  expect(await readdir(root, { recursive: true })).toEqual(
    expect.arrayContaining(['objects/files/1-a.png', 'meta/files/1-a.png.json']),
  )
  expect(await readdir(join(root, 'incoming'))).toEqual([])
})

it('a folder on disk serves nothing under a name that is too long for a file, and takes it for no outage', async () => {
  const { files } = await opened()
  for (const key of ['a'.repeat(251), 'a'.repeat(512), `${'a'.repeat(300)}/b`]) {
    const request = new Request(new URL(files.urlOf(key), 'http://localhost'))
    await expect(files.serve?.(request)).resolves.toBeUndefined()
  }
})

it('a folder on disk keeps nothing of a put that fails, at whichever step', async () => {
  const { files, root } = await opened()
  const bytes = new Uint8Array(3)
  // A folder stands where the description has to go, then where the object has to go.
  for (const taken of ['meta/files/1-a.png.json', 'objects/files/2-b.png']) {
    await mkdir(join(root, taken), { recursive: true })
    const key = taken.replace(/^(?:meta|objects)\//, '').replace(/\.json$/, '')
    await expect(files.put(key, bytes, { ...meta, size: 3 })).rejects.toThrow()
    expect(await readdir(join(root, 'incoming'))).toEqual([])
    await rm(join(root, taken), { recursive: true, force: true })
    const left = await readdir(root, { recursive: true, withFileTypes: true })
    expect(left.filter((entry) => entry.isFile()).map(({ name }) => name)).toEqual([])
  }
})

it('a folder on disk is rid of what a killed process had begun to write, once it is listed', async () => {
  const { files, root } = await opened()
  await files.put('files/1-a.png', new Uint8Array(3), { ...meta, size: 3 })
  const [old, fresh] = [join(root, 'incoming', 'old'), join(root, 'incoming', 'fresh')]
  for (const path of [old, fresh]) await writeFile(path, 'begun')
  const twoHoursAgo = new Date(Date.now() - 2 * 60 * 60 * 1000)
  await utimes(old, twoHoursAgo, twoHoursAgo)
  for await (const { key } of files.list('')) expect(key).toBe('files/1-a.png')
  expect(await readdir(join(root, 'incoming'))).toEqual(['fresh'])
})

it('a folder on disk refuses keys and URLs that lead out of it', async () => {
  const { files, get } = await opened()
  await files.put('files/1-a.png', new Uint8Array(3), { ...meta, size: 3 })
  for (const key of ['../x', 'a/../../x', '/etc/passwd', 'a\0b', 'a\\b', '.hidden', 'a//b', '']) {
    await expect(files.put(key, new Uint8Array(3), { ...meta, size: 3 })).rejects.toThrow()
    await expect(files.delete(key)).rejects.toThrow()
  }
  for (const path of [
    'files/../../meta/files/1-a.png.json',
    '..%2f..%2fetc/passwd',
    '%00',
    'files/1-a.png%00.txt',
    'files/',
    '',
  ]) {
    expect((await get(`/uploads/${path}`)).status).toBe(404)
  }
})

it('a folder on disk names the option that makes no sense', () => {
  expect(() => diskFiles({ root: '', secret: SECRET })).toThrow(`'root'`)
  expect(() => diskFiles({ root: '/tmp/x', secret: 'short' })).toThrow(`'secret'`)
  expect(() => diskFiles({ root: '/tmp/x', secret: SECRET, url: 'uploads' })).toThrow(`'url'`)
})

it('a folder on disk serves what it stores under a URL of its own', async () => {
  const { root } = await opened()
  const files = diskFiles({ root, secret: SECRET, url: 'https://cdn.example.com/media/' })
  const url = await files.put('files/1-a.png', new Uint8Array(3), { ...meta, size: 3 })
  expect(url).toBe('https://cdn.example.com/media/files/1-a.png')
  expect((await files.serve?.(new Request('http://inside:3000/media/files/1-a.png')))?.status).toBe(
    200,
  )
  expect(await files.serve?.(new Request('http://inside:3000/other/files/1-a.png'))).toBeUndefined()
})

it('files are served with headers that keep a browser from running them', async () => {
  const { files, get } = await opened()
  const html = {
    contentType: 'text/html',
    contentDisposition: 'attachment',
    acl: 'public-read',
  } as const
  const url = await files.put('files/1-a.html', new TextEncoder().encode('<script>'), {
    ...html,
    size: 8,
  })
  const { headers } = await get(url)
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'text/html',
    'content-disposition': 'attachment',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'accept-ranges': 'bytes',
    'content-length': '8',
    'cache-control': 'public, max-age=31536000, immutable',
  })
})

it('a folder on disk sends a file whole that is deleted while it is sent', async () => {
  const { files, root } = await opened()
  const content = new Uint8Array(200_000).fill(7)
  const url = await files.put('files/1-a.png', content, { ...meta, size: content.length })
  const response = await files.serve?.(new Request(new URL(url, 'http://localhost')))
  await files.delete('files/1-a.png')
  expect(await readdir(join(root, 'objects/files'))).toEqual([])
  expect(new Uint8Array((await response?.arrayBuffer()) ?? [])).toEqual(content)
})

it('a folder on disk has no response for a file that is deleted once it was found', async () => {
  const { files, root } = await opened()
  const url = await files.put('files/1-a.png', new Uint8Array(3), { ...meta, size: 3 })
  const path = join(root, 'objects/files/1-a.png')
  // What is sent depends on headers, which are read between the two.
  const request = new Request(new URL(url, 'http://localhost'))
  vi.spyOn(request.headers, 'get').mockImplementation(() => {
    rmSync(path, { force: true })
    return null
  })
  expect(await files.serve?.(request)).toBeUndefined()
})

it('a bucket of R2 has no response for a file that is deleted once it was found', async () => {
  const found = { key: 'files/1-a.png', size: 3, uploaded: new Date(), httpEtag: '"a"' }
  const bucket = {
    head: async () => ({ ...found, customMetadata: { acl: 'public-read' } }),
    get: async () => null,
    put: () => {},
  } as unknown as R2Binding
  const files = r2Files(bucket, { secret: SECRET })
  const request = new Request(new URL(files.urlOf(found.key), 'http://localhost'))
  expect(await files.serve?.(request)).toBeUndefined()
})
