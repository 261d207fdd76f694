/**
 * A server under measurement: a process of its own, fresh for each round.
 *
 * @module
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Makes Node take fieldgate's sources. */
export const FROM_SOURCE = '--conditions=fieldgate-source'

/** A running server. */
export interface Server {
  readonly base: string
  /** Seconds of processor time so far, with what it started. */
  cpuSeconds(): number
  /** Resident memory, in MiB. */
  memoryMiB(): number
  /** The part of it that is no file: SQLite maps the pages of the database that it reads. */
  ownMemoryMiB(): number
  /** Ends it at once, or as `signal` says. */
  stop(signal?: NodeJS.Signals): Promise<void>
}

/** Ticks a second of /proc's clocks. */
const TICKS = 100

/** What a server says once it can be asked: the second is PocketBase's; PostgREST says two things, in any order. */
const LISTENING =
  /(?:listening |started at http:\/\/127\.0\.0\.1:|(?=[^]*Schema cache loaded)[^]*Listening on port )(?<port>\d+)/

/** Starts a script, relative to this folder, and waits until it says on which port it listens. */
export function startServer(script: string, args: readonly string[]): Promise<Server> {
  const file = fileURLToPath(new URL(script, import.meta.url))
  return startProgram([process.execPath, FROM_SOURCE, file, ...args])
}

/** Starts any program that says `listening <port>` once it does. */
export async function startProgram([command = '', ...args]: readonly string[]): Promise<Server> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const port = await portOf(child)
  const sumOf = (measured: (pid: number) => number) =>
    processesOf(child.pid ?? 0).reduce((sum, pid) => sum + measured(pid), 0)
  return {
    base: `http://127.0.0.1:${port}`,
    cpuSeconds: () => sumOf(cpuSecondsOf),
    memoryMiB: () => sumOf((pid) => memoryOf(pid, 'VmRSS')),
    ownMemoryMiB: () => sumOf((pid) => memoryOf(pid, 'RssAnon')),
    stop: (signal = 'SIGKILL') =>
      new Promise((resolve) => {
        const [, ...children] = processesOf(child.pid ?? 0)
        child.once('close', () => resolve())
        child.kill(signal)
        for (const pid of children) kill(pid, signal)
      }),
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It ended by itself when its parent did.
  }
}

/** The process and those that it started: workerd is a child of miniflare's. */
function processesOf(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) => startedBy(pid, thread))
  return [pid, ...children.flatMap(processesOf)]
}

/** The processes that a thread started; none if it has ended since it was listed. */
function startedBy(pid: number, thread: string): number[] {
  try {
    return proc(pid, `task/${thread}/children`).split(' ').filter(Boolean).map(Number)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function cpuSecondsOf(pid: number): number {
  const fields = proc(pid, 'stat').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / TICKS
}

/** Resident memory of a process in MiB: all of it, or the part that is no file. */
export function memoryOf(pid: number, kind: 'VmRSS' | 'RssAnon'): number {
  return Number(new RegExp(`${kind}:\\s+(\\d+)`).exec(proc(pid, 'status'))?.[1]) / 1024
}

function proc(pid: number, name: string): string {
  return readFileSync(`/proc/${pid}/${name}`, 'utf8')
}

function portOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = ''
    child.stdout?.on('data', (chunk) => {
      output += chunk
      const port = LISTENING.exec(output)?.groups?.port
      if (port !== undefined) resolve(port)
    })
    child.once('error', reject)
    child.once('close', (code) => reject(new Error(`a server ended with code ${code}: ${output}`)))
  })
}
