/**
 * Hands out services to the test files of a run: a vitest `globalSetup`. Nothing is started before a file asks, and
 * everything ends with the run.
 *
 * @module
 */

import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { catalogue, type Services } from './catalogue.ts'
import { databases, removeLeft } from './memory.ts'

const PREFIX = 'fieldgate-run-'

/** Opens the counter and resolves to what closes it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const started = new Map<string, Promise<Services[keyof Services]>>()
  const counter = createServer(async (request, response) => {
    const name = (request.url ?? '').slice(1) as keyof Services
    const service = started.get(name) ?? catalogue[name]()
    started.set(name, service)
    const answer = await service.catch((error: Error) => ({ missing: error.message }))
    response.end(JSON.stringify(answer))
  })
  await once(counter.listen(0, '127.0.0.1'), 'listening')
  project.provide('services', `http://127.0.0.1:${(counter.address() as AddressInfo).port}`)
  removeLeft(PREFIX)
  const folder = mkdtempSync(join(databases(), `${PREFIX}${process.pid}-`))
  project.provide('folder', folder)

  return async () => {
    counter.close()
    rmSync(folder, { recursive: true, force: true })
    const services = await Promise.allSettled(started.values())
    await Promise.all(
      services.map((service) =>
        service.status === 'fulfilled' ? service.value.stop() : undefined,
      ),
    )
  }
}
