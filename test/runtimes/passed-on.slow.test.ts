import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompressSync, gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { expect, it, onTestFinished } from 'vitest'
import { RUNTIMES } from './commands.ts'

const fixture = fileURLToPath(new URL('passed-on-fixture.ts', import.meta.url))
const TEXT = 'text '.repeat(200)
const CODINGS = {
  gzip: gzipSync(TEXT),
  br: brotliCompressSync(TEXT),
  zstd: zstdCompressSync(TEXT),
  identity: Buffer.from(TEXT),
}

it.each(Object.entries(RUNTIMES))(
  'on %s, what fetch has got is passed on as its headers say',
  async (_, [command = '', ...flags]) => {
    const upstream = createServer(({ url = '' }, response) => {
      const coding = url.slice(1) as keyof typeof CODINGS
      response.setHeader('Content-Encoding', coding)
      response.end(CODINGS[coding])
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void upstream.close())
    await once(upstream, 'listening')
    const { port } = upstream.address() as AddressInfo
    const run = [...flags, fixture, `http://127.0.0.1:${port}`]
    const { stdout } = await promisify(execFile)(command, run)
    const seen = Object.entries(
      JSON.parse(stdout) as Record<string, [string | null, string, string]>,
    )
    expect(seen.map(([coding]) => coding)).toEqual(Object.keys(CODINGS))
    for (const [coding, [made, length, body]] of seen) {
      const bytes = Buffer.from(body, 'base64')
      // Node and Deno leave this one as it is.
      const text = String(made === 'zstd' ? zstdDecompressSync(bytes) : bytes)
      expect([coding, made, text]).toEqual([
        coding,
        made === 'zstd' ? 'zstd' : expect.toSatisfy((one) => one === null || one === 'identity'),
        TEXT,
      ])
      if (length !== null) expect([coding, Number(length)]).toEqual([coding, bytes.length])
    }
  },
)
