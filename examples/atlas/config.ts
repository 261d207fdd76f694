/**
 * The configuration of the atlas on Node: what the environment may say. It is read here and nowhere else.
 *
 * @module
 */

import { fileURLToPath } from 'node:url'
import * as z from 'zod'

/** A variable that is missing or wrong, in one line. */
export class ConfigError extends Error {}

/** What `createApp` and `diskFiles` ask for. */
const MIN_SECRET = 32

function wholeNumber(most: number) {
  const isOne = (text: string) => /^\d+$/.test(text) && Number(text) <= most
  return z.string().refine(isOne, `must be a whole number from 0 to ${most}`).transform(Number)
}

const isDatabase = (url: string) => /^(?:postgres|postgresql|mongodb|mongodb\+srv):\/\//.test(url)

const variables = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: wholeNumber(65_535).default(3000),
  /** How many proxies in front append to `X-Forwarded-For`. */
  TRUST_PROXY: wholeNumber(10).default(0),
  /** Signs tokens. Default: one that is kept in a file beside the database. */
  ATLAS_SECRET: z
    .string()
    .min(MIN_SECRET, `must have at least ${MIN_SECRET} characters`)
    .optional(),
  /** The SQLite database; uploads on disk and the secret are beside it. */
  ATLAS_DB: z.string().default(fileURLToPath(new URL('../../data/atlas.db', import.meta.url))),
  /** The number of cities to seed, the largest first. Default: all. */
  ATLAS_CITIES: wholeNumber(1_000_000).optional(),
  /** PostgreSQL or MongoDB instead of SQLite. */
  DATABASE_URL: z
    .string()
    .refine(isDatabase, 'must start with postgres:// or mongodb://')
    .optional(),
  /** A cache, which routers use with `CACHE_ENABLED=true`. */
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\//, 'must start with redis:// or rediss://')
    .optional(),
  /** S3 instead of files on disk. */
  S3_ENDPOINT: z.url('must be a URL').optional(),
  S3_BUCKET_NAME: z.string().optional(),
  S3_REGION: z.string().default('us-east-1'),
  S3_SPACES_KEY: z.string().optional(),
  S3_SPACES_SECRET: z.string().optional(),
})

/** The variables with their types. */
export type Config = z.infer<typeof variables>

/** What S3 needs, each with the others. */
const S3 = ['S3_ENDPOINT', 'S3_BUCKET_NAME', 'S3_SPACES_KEY', 'S3_SPACES_SECRET'] as const

/** Reads the variables. Throws a `ConfigError` that names the first one that is missing or wrong. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  // A variable that is empty counts as one that is not set.
  const entries = Object.entries(env).map(([name, value]) => [name, value?.trim() || undefined])
  const { data, error } = variables.safeParse(Object.fromEntries(entries))
  if (!data) {
    const [{ path, message } = { path: [], message: '' }] = error.issues
    throw new ConfigError(`${path.join('.')} ${message}. See examples/atlas/.env.example.`)
  }
  const missing = S3.find((name) => data[name] === undefined)
  const given = S3.find((name) => data[name] !== undefined)
  if (missing && given) {
    throw new ConfigError(
      `${missing} is missing, and ${given} is set. See examples/atlas/.env.example.`,
    )
  }
  return data
}
