/**
 * A server under one work: started, checked and loaded.
 *
 * @module
 */

import { checkAnswers } from './answers.ts'
import { type Load, load, type Requests } from './load.ts'
import { besideOthers } from './others.ts'
import type { Database } from './records/database.ts'
import type { Sample } from './sample.ts'
import { startProgram } from './server.ts'
import type { Contender } from './servers.ts'
import { get, type Work } from './work.ts'

/** A server's code is compiled while it is asked; the more there is of it, the longer that takes. */
const WARM_UP_SECONDS = 2
/** The processor time that it has to have had by then: on a busy machine that takes several such loads. */
const WARM_UP_CPU_SECONDS = 1
const MOST_WARM_UPS = 5

/** A server that can be loaded. */
export interface WarmServer {
  /** One load. Throws where a request fails or a wrong answer is given before or after it. */
  sample(connections: number): Promise<Sample>
  /** Ends it, and takes back what it wrote. */
  stop(): Promise<void>
}

/**
 * Starts a server whose samples take `seconds`, or longer if the work asks for that. It answers rightly and has been loaded for
 * a while, unless the work is a cold one.
 */
export async function warmServer(
  server: Contender,
  work: Work,
  database: Database,
  seconds: number,
): Promise<WarmServer> {
  const place = database.place(server.owner, work.writes ?? false)
  const models = work.burden?.models
  const environment = models === undefined ? [] : ['env', `BENCH_MODELS=${models}`]
  const running = await startProgram([...environment, ...(await server.command(place))])
  const stop = async () => {
    await running.stop()
    if (work.writes) await database.tidy()
  }
  try {
    const requests = await requestsFor(server, work, running.base)
    const at = { base: running.base, size: database.asked.size }
    const check = () => checkAnswers(server, work, requests, at)
    if (!work.cold) {
      await check()
      const count = work.seconds ? 1 : 16
      const begun = running.cpuSeconds()
      for (let left = MOST_WARM_UPS; left > 0; left -= 1) {
        await load(at.base, requests, count, WARM_UP_SECONDS)
        if (running.cpuSeconds() - begun >= WARM_UP_CPU_SECONDS) break
      }
    }
    const duration = Math.max(seconds, work.seconds ?? 0)
    const sample = async (connections: number): Promise<Sample> => {
      // Its answers come after those that the load before left behind.
      if (!work.cold) await check()
      const before = work.cold ? 0 : running.cpuSeconds()
      const seen = await burdenedLoad(server, work, at.base, duration, () =>
        load(at.base, requests, connections, duration),
      )
      const cpu = running.cpuSeconds() - before
      if (seen.errors > 0) throw new Error(`${server.name}, ${work.name}: ${seen.errors} errors`)
      if (seen.requestsPerSecond === 0) {
        throw new Error(`${server.name}, ${work.name}: no answer in ${duration} s`)
      }
      await check()
      return {
        ...seen,
        connections,
        cpuMicroseconds: (cpu / (seen.requestsPerSecond * duration)) * 1e6,
        memoryMiB: running.memoryMiB(),
        ownMemoryMiB: running.ownMemoryMiB(),
      }
    }
    return { sample, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The load, beside the work's other clients if it has some. */
async function burdenedLoad(
  server: Contender,
  { burden }: Work,
  base: string,
  duration: number,
  loaded: () => Promise<Load>,
): Promise<Load & Pick<Sample, 'othersPerSecond'>> {
  if (burden?.others === undefined) return loaded()
  const { paths, headers } = inWordsOf(server, get(burden.others))
  const { seen, answers } = await besideOthers(base + paths[0], headers, loaded)
  return { ...seen, othersPerSecond: answers / duration }
}

async function requestsFor(server: Contender, work: Work, base: string): Promise<Requests> {
  const plain = server.owner === 'fieldgate' ? work.requests : (work.ofPeers ?? work.requests)
  const headers = await work.headers?.(base)
  return inWordsOf(server, headers ? { ...plain, headers } : plain)
}

function inWordsOf(server: Contender, { every, ...requests }: Requests): Requests {
  const asked = server.dialect?.asked(requests) ?? requests
  return every ? { ...asked, every: { ...every, is: inWordsOf(server, every.is) } } : asked
}
