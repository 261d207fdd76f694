/**
 * The configuration: what the environment may say and must say. It is read here and nowhere else.
 *
 * @module
 */

// @if server
import process from 'node:process'
// @end
import * as z from 'zod'

// @if server
function wholeNumber(most: number) {
  const message = `must be a whole number from 0 to ${most}`
  return z.coerce.number(message).int(message).min(0, message).max(most, message)
}

// @end
const variables = z.object({
  // @if server
  /** Where the server listens: `127.0.0.1` is this machine alone, `0.0.0.0` every network. */
  HOST: z.string().default('127.0.0.1'),
  PORT: wholeNumber(65_535).default(3000),
  /** How many proxies in front of the server append to `X-Forwarded-For`. */
  TRUST_PROXY: wholeNumber(10).default(0),
  // @end
  // @if sqlite
  /** The file with the database. */
  DATABASE: z.string().default('notes.db'),
  // @end
  // @if address
  DATABASE_URL: z.string().startsWith('{{scheme}}', 'must be a URL such as {{databaseUrl}}'),
  // @end
  // @if libsql
  /** The token of a server that wants one. */
  DATABASE_TOKEN: z.string().optional(),
  // @end
  // @if accounts
  /** Signs the tokens. A new one signs everyone out. */
  APP_SECRET: z.string().min(32, 'must have at least 32 characters'),
  // @end
  // @if passkeys
  /** The origin of your pages, to whose domain passkeys belong. With another domain, users need new ones. */
  APP_ORIGIN: z
    .string()
    .regex(/^https?:\/\/[^/]+$/, 'must be an origin such as https://app.example.com')
    .default('http://localhost:5173'),
  // @end
  // @if api-key
  /** What clients send as `X-API-Key`. */
  API_KEY: z.string().regex(/^[!-~]{32,}$/, 'must have at least 32 characters and no spaces'),
  // @end
  /** The origins whose pages may call the API, separated by commas. */
  CORS_ORIGINS: z
    .string()
    .regex(
      /^(https?:\/\/[^/,]+(,|$))*$/,
      'must list origins such as https://app.example.com, separated by commas',
    )
    .default('')
    .transform((list) => list.split(',').filter((origin) => origin !== '')),
})

/** The variables with their types. */
export type Config = z.infer<typeof variables>

/** Reads the variables. Throws an error of one line that names the first one that is missing or wrong. */
export function readConfig(env: object): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const { data, error } = variables.safeParse(given)
  if (data) return data
  const [{ path, message } = { path: [], message: '' }] = error.issues
  const name = path.join('.')
  throw new Error(
    name in given
      ? `${name} ${message}. See .env.example.`
      : `${name} is missing. Set it in .env, as in .env.example.`,
  )
}
// @if server

/** The configuration of this process, which ends with one line if a variable is missing or wrong. */
export function configOrExit(): Config {
  try {
    return readConfig(process.env)
  } catch (error) {
    console.error((error as Error).message)
    process.exit(1)
  }
}
// @end
