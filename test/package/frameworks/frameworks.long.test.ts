import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { publishedPackage } from '../../services/shared.ts'
import { requests } from './requests.ts'
import { type Installed, installed, surprises } from './run.ts'

// What takes minutes to install and build, `npm run frameworks` runs, every night.
const NAMES = ['hono', 'elysia', 'vercel', 'netlify']

let projects: Installed
beforeAll(async () => {
  projects = await installed(NAMES, (await publishedPackage()).tarball)
}, 600_000)
afterAll(() => projects?.remove())

describe('an app inside another server', () => {
  it.each(NAMES)(
    'gets every request from %s, and it sends every response',
    async (name) => {
      const found = await projects.tried(name)
      expect(Object.keys(found)).toEqual(Object.keys(requests))
      expect(surprises(name, found)).toEqual([])
    },
    300_000,
  )
})
