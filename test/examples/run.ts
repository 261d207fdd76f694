/**
 * The examples of one file, run as their headers say.
 *
 * @module
 */

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished } from 'vitest'
import { RUNTIMES } from '../runtimes/commands.ts'

/** What a request got. */
export interface Answer {
  readonly status: number
  readonly body: {
    // biome-ignore lint/suspicious/noExplicitAny: tests look into all kinds of records
    readonly data?: any
    readonly error?: string
  }
}

/** Sends a request; an object becomes JSON. */
export type Send = (
  method: string,
  path: string,
  body?: object,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answer>

/** Sends requests to `base` with `ask`. */
export function sender(
  base: string,
  ask: (url: string, init: RequestInit) => Promise<Response>,
): Send {
  return async (method, path, body, headers = {}) => {
    const isForm = body instanceof FormData
    const response = await ask(base + path, {
      method,
      headers: { ...headers, ...(body && !isForm && { 'Content-Type': 'application/json' }) },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as Answer['body'] }
  }
}

/** Starts `examples/<name>.ts` in an empty folder, on a free port, until the test has finished. */
export async function started(
  name: string,
  runtime: string,
  env: Readonly<Record<string, string>>,
): Promise<Send> {
  return sender((await startedServer(name, runtime, env)).url, fetch)
}

/** The same, with what the program prints, and the folder where it runs. */
export async function startedServer(
  name: string,
  runtime: string,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly url: string; readonly folder: string; output(): string }> {
  const folder = mkdtempSync(join(tmpdir(), `fieldgate-${name.replaceAll('/', '-')}-`))
  const [command = '', ...args] = RUNTIMES[runtime] ?? []
  const file = fileURLToPath(new URL(`../../examples/${name}.ts`, import.meta.url))
  const child = spawn(command, [...args, file], {
    cwd: folder,
    env: { ...process.env, ...env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(async () => {
    const closed = new Promise((resolve) => child.once('close', resolve))
    child.kill('SIGTERM')
    // The server ends by itself, in order.
    expect(await closed).toBe(0)
    rmSync(folder, { recursive: true, force: true })
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const url = /http:\/\/[\w.]+:\d+/
  await expect.poll(() => output, { timeout: 60_000 }).toMatch(url)
  return { url: url.exec(output)?.[0] ?? '', folder, output: () => output }
}
