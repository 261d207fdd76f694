import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { bundled } from '../http/workerd.ts'

const KIB = 1024
/**
 * What sessions, verified mailboxes and deletion take is paid for here: it was 100 before them. Uploads, which took 32, come
 * with a file store. Enforced references take 4, models that change 7; access, scopes of reads and writes, hooks that judge stored records and readers'
 * fields take 3; pages that start after a record and counts that writes leave alone take 2; tokens of
 * express-controller-sets, refusals of Express's idioms and values as types of BSON take 5; versions that share a database,
 * long queries, admins who end each other, and dates beside other types take 6; steps of your code, and rules of models, 8; the
 * log of changes, which any model may have, with histories and restores, 6; live lists, and searches and references in your own
 * code, 6; what start-up says of routes and guards that serve nothing, and whose words a refusal quotes, 1; pages behind a value
 * that one record has, and caches that do not take a response, a half; aggregates over values of another type, and what is said of
 * a binding that is missing, a quarter; rights that end before a body is there, start-ups that outlive their request, and what
 * `fetch` has decoded, a half; what a check tells of overlaps and references, collections with another name, isolates that go on
 * after requests that were ended, and dates among words, one; writes of accounts that fail half-way, a quarter; right passwords
 * and codes that count as no try, and providers that are switched off, three quarters; models of one app that keep apart from
 * those of others, a quarter; ids that a store does not make, caches in front of an app, and options of providers and
 * stores, a quarter; what the log says of files that break off and of the database's own rules, a quarter; atomic steps that have
 * their turn, large records that are read in parts, and reads that end with their client, one; requests with read-only methods,
 * and what mail servers say of those who send, a quarter.
 */
const LIMIT = 174.75 * KIB

/** The same of records alone, without accounts and files; schemas that refer to themselves, and hints about them, take a quarter. */
const LIMIT_OF_RECORDS = 123.75 * KIB

/** The same of an app that names no parts. */
const LIMIT_OF_NO_PARTS = 106.25 * KIB

/** What the parts of apps say: kept responses, live lists, histories, files, atomic steps. */
const PARTS_OF_APPS = [
  'CACHE_TTL',
  'text/event-stream',
  'changeId',
  'application/x-ndjson',
  'the atomic step is over',
]

/** The same with accounts of no parts. */
const LIMIT_OF_PASSWORDS = 160.75 * KIB

/** What the parts of accounts say: providers and their keys, sessions, proofs of mailboxes, tokens of before. */
const PARTS = [
  'www.googleapis.com',
  'appleid.apple.com',
  'ERR_JWKS',
  'graph.facebook.com',
  'api.github.com',
  '/social/:provider',
  '/token/refresh',
  '/email/verify',
  'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9',
]

/** What takes uploads, which file stores bring along. */
const UPLOADS = ['x-img-optimizations', 'fileTypeFromBuffer', 'onField']

/** Names that only other adapters, or other runtimes, would bring along. */
const FOREIGN = [
  'node:sqlite',
  'mongodb',
  'postgres',
  '@aws-sdk',
  'aws4fetch',
  'ioredis',
  '@redis/',
  '@upstash',
  'libvips',
  'jsquash',
  'lru-cache',
  'node:http',
  'node:net',
  'Deno.',
  'Bun.',
  // What health(), metrics() and telemetry() bring along.
  '/readyz',
  'http_server_request',
  'db.collection',
  // What the guards bring along.
  'Access-Control-Allow-Origin',
  'RateLimit-Policy',
  'fieldgate_idempotency_keys',
  // What jobs, consumers and webhooks bring along.
  'CronPattern',
  'fieldgate_background',
  'fieldgate_held_changes',
  'webhook-signature',
  // A common password: their list is large.
  'qwertyuiop',
]

async function gzipped(
  model: 'mini' | 'classic' | 'passwords' | 'records' | 'lean' | 'files' | 'parts',
): Promise<{ size: number; text: string }> {
  const text = await bundled(new URL(`./bundles/${model}.ts`, import.meta.url), true)
  return { size: gzipSync(text, { level: 9 }).length, text }
}

describe('the Workers bundle of core, D1 and auth', () => {
  it('stays under 175 KiB gzipped with models in zod/mini', async () => {
    const [mini, classic] = [await gzipped('mini'), await gzipped('classic')]
    const show = (size: number) => `${(size / KIB).toFixed(1)} KiB`
    console.log(`gzipped: ${show(mini.size)} with zod/mini, ${show(classic.size)} with zod`)
    expect(mini.size).toBeLessThan(LIMIT)
  })

  it('is smaller for records alone, and has what takes uploads only with a file store', async () => {
    const [records, files] = [await gzipped('records'), await gzipped('files')]
    console.log(`gzipped: ${(records.size / KIB).toFixed(1)} KiB of records alone`)
    expect(records.size).toBeLessThan(LIMIT_OF_RECORDS)
    expect(UPLOADS.filter((name) => records.text.includes(name))).toEqual([])
    expect(UPLOADS.filter((name) => !files.text.includes(name))).toEqual([])
  })

  it('has only those parts of an app that it names', async () => {
    const [none, all] = [await gzipped('lean'), await gzipped('records')]
    console.log(`gzipped: ${(none.size / KIB).toFixed(1)} KiB of records alone, without parts`)
    expect(none.size).toBeLessThan(LIMIT_OF_NO_PARTS)
    expect(PARTS_OF_APPS.filter((name) => none.text.includes(name))).toEqual([])
    expect(PARTS_OF_APPS.filter((name) => !all.text.includes(name))).toEqual([])
  })

  it('has only those parts of accounts that are named', async () => {
    const [none, all] = [await gzipped('parts'), await gzipped('mini')]
    console.log(`gzipped: ${(none.size / KIB).toFixed(1)} KiB with accounts of no parts`)
    expect(none.size).toBeLessThan(LIMIT_OF_PASSWORDS)
    expect(PARTS.filter((name) => none.text.includes(name))).toEqual([])
    expect(PARTS.filter((name) => !all.text.includes(name))).toEqual([])
  })

  it('has the list of common passwords only where it is named', async () => {
    const { size, text } = await gzipped('passwords')
    console.log(`gzipped: ${(size / KIB).toFixed(1)} KiB with the list of common passwords`)
    expect(text).toContain('qwertyuiop')
  })

  it('names no other adapter, no other runtime and no part that it has not imported', async () => {
    const { text } = await gzipped('mini')
    expect(FOREIGN.filter((name) => text.includes(name))).toEqual([])
  })
})
