/**
 * The store, the cache and the files of the atlas on Node, as its configuration says.
 *
 * Only what it names is loaded: all of it would double the time that a start takes.
 *
 * @module
 */

import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { diskFiles } from '../../adapters/files/disk.ts'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import type { CacheStore, FileStore, Store } from '../../src/index.ts'
import type { Config } from './config.ts'

/** What `atlas` is made of. */
export interface Services {
  readonly store: Store
  readonly cache?: CacheStore
  readonly files: FileStore
  /** Signs tokens, cursors and links to files. */
  readonly secret: string
}

/** Makes them; nothing connects before it is used. */
export async function servicesOf(config: Config): Promise<Services> {
  mkdirSync(dirname(config.ATLAS_DB), { recursive: true })
  const secret = config.ATLAS_SECRET ?? keptSecret(`${config.ATLAS_DB}.secret`)
  const cache = await cacheOf(config)
  return {
    store: await storeOf(config),
    ...(cache && { cache }),
    files: await filesOf(config, secret),
    secret,
  }
}

async function storeOf({ DATABASE_URL: url, ATLAS_DB: path }: Config): Promise<Store> {
  if (url === undefined) return sqliteStore({ path })
  if (url.startsWith('mongodb')) {
    const { mongoStore } = await import('../../adapters/stores/mongodb/index.ts')
    return mongoStore({ url })
  }
  const { postgresStore } = await import('../../adapters/stores/postgres/index.ts')
  return postgresStore({ url })
}

async function cacheOf({ REDIS_URL: url }: Config): Promise<CacheStore | undefined> {
  if (url === undefined) return undefined
  const { redisCache } = await import('../../adapters/caches/redis.ts')
  return redisCache({ url })
}

async function filesOf(config: Config, secret: string): Promise<FileStore> {
  const { S3_ENDPOINT: endpoint, S3_BUCKET_NAME: bucket, S3_REGION: region } = config
  const { S3_SPACES_KEY: accessKeyId, S3_SPACES_SECRET: secretAccessKey } = config
  if (endpoint && bucket && accessKeyId && secretAccessKey) {
    const { s3Files } = await import('../../adapters/files/s3.ts')
    return s3Files({ endpoint, bucket, region, accessKeyId, secretAccessKey })
  }
  return diskFiles({ root: join(dirname(config.ATLAS_DB), 'files'), secret })
}

/** Kept, so that a restart signs nobody out. */
function keptSecret(file: string): string {
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString('base64url'), { mode: 0o600 })
  return readFileSync(file, 'utf8')
}
