/** The options of an S3 file store, from code or from the environment. */

import * as rule from '../../src/model/option-rules.ts'
import { checkOptions, type Fail, failAs, type Rule } from '../../src/model/option-rules.ts'
import { isKey } from '../../src/ports/services/files.ts'

/** What signs requests to S3. */
export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Of temporary ones. */
  readonly sessionToken?: string
}

/** Options of `s3Files`; missing ones are taken from the environment. */
export interface S3Options {
  /** The server's URL without the bucket. Default: the variable `S3_ENDPOINT`, or AWS in the region. */
  readonly endpoint?: string
  /** The bucket's name. Default: the variable `S3_BUCKET_NAME`. */
  readonly bucket?: string
  /** The region. Default: the variable `S3_REGION`, or `us-east-1`. */
  readonly region?: string
  /** Whether URLs are `<endpoint>/<bucket>/<key>`, not `https://<bucket>.<endpoint>/<key>`. Default true. */
  readonly pathStyle?: boolean
  /** Default: the variable `S3_SPACES_KEY`. */
  readonly accessKeyId?: string
  /** Default: the variable `S3_SPACES_SECRET`. */
  readonly secretAccessKey?: string
  /**
   * The session token of temporary credentials, such as those that a Lambda function gets. Default: the variable
   * `S3_SESSION_TOKEN`. Signed links end with it.
   */
  readonly sessionToken?: string
  /**
   * Returns the credentials instead, for those that have to be renewed, such as the role of a container: it is asked at each
   * request and each signed link, so let it keep what it gets.
   */
  readonly credentials?: () => S3Credentials | Promise<S3Credentials>
  /** Where the variables above are looked up. Default: `process.env`, if there is one. */
  readonly env?: Readonly<Record<string, unknown>>
}

type Placed = 'endpoint' | 'bucket' | 'region' | 'pathStyle' | 'credentials'

export interface S3Place extends Required<Pick<S3Options, Placed>> {
  urlOf(key: string): string
  keyOf(url: string): string | undefined
}

/** The key that `ping` asks for: nothing is stored there. */
export const ABSENT_KEY = 'fieldgate-ready'

/** Rejects unless S3 says of `ABSENT_KEY` that it is absent. To clients that may not list the bucket, it says `AccessDenied`. */
export async function checkAbsent(
  ask: () => Promise<unknown>,
  codeOf: (error: unknown) => unknown,
): Promise<void> {
  try {
    await ask()
  } catch (error) {
    if (['NoSuchKey', 'AccessDenied'].includes(String(codeOf(error)))) return
    throw error
  }
  throw new Error('the server has an object that was never stored, so it is no S3 server')
}

/** Services whose consoles show a host with the bucket's name before it. A server of one's own may be called like a bucket. */
const SERVICES = [
  ...['digitaloceanspaces.com', 'your-objectstorage.com', 'amazonaws.com'],
  ...['backblazeb2.com', 'wasabisys.com', 'scw.cloud'],
]

export function resolveS3(options: S3Options = {}): S3Place {
  const fail: Fail = failAs('s3Files')
  checkOptions(options, RULES, fail)
  const { process } = globalThis as { process?: Pick<S3Options, 'env'> }
  const env = options.env ?? process?.env ?? {}
  const value = (name: keyof S3Options, variable: string, fallback?: string): string => {
    // An empty variable counts as not set.
    const found = options[name] ?? (env[variable] || fallback)
    return typeof found === 'string' && found !== ''
      ? found
      : fail(`'${name}' is needed, or ${variable} in the environment`)
  }
  const region = value('region', 'S3_REGION', 'us-east-1')
  const aws = `https://s3.${region}.amazonaws.com`
  const endpoint = value('endpoint', 'S3_ENDPOINT', aws).replace(/(^|[^/])\/+$/, '$1')
  if (!/^https?:/i.test(endpoint) || !URL.canParse(endpoint))
    fail("'endpoint' must be a URL, with https:// or http://")
  const bucket = value('bucket', 'S3_BUCKET_NAME')
  if (/[/\s]/.test(bucket)) fail("'bucket' must be the name of a bucket, without a folder in it")
  const { hostname, pathname, search, hash } = new URL(endpoint)
  const server = hostname.startsWith(`${bucket}.`) ? hostname.slice(bucket.length + 1) : ''
  const isBehind = SERVICES.some((one) => server.endsWith(`.${one}`))
  if (search || hash || isBehind || pathname.endsWith(`/${bucket}`))
    fail("'endpoint' must be the server's URL, without the bucket or a query")
  const { pathStyle = true } = options
  const start = pathStyle ? `${endpoint}/${bucket}/` : `${endpoint.replace('//', `//${bucket}.`)}/`
  const token = options.sessionToken ?? (env.S3_SESSION_TOKEN as string | undefined)
  return {
    ...{ endpoint, bucket, region, pathStyle },
    credentials:
      options.credentials ??
      always({
        accessKeyId: value('accessKeyId', 'S3_SPACES_KEY'),
        secretAccessKey: value('secretAccessKey', 'S3_SPACES_SECRET'),
        ...(token && { sessionToken: token }),
      }),
    urlOf: (key) => start + key,
    keyOf(url) {
      if (!url.startsWith(start)) return undefined
      const [key = ''] = url.slice(start.length).split(/[?#]/, 1)
      return isKey(key) ? key : undefined
    },
  }
}

const always = (keys: S3Credentials) => () => keys

const RULES: Readonly<Record<keyof S3Options, Rule>> = {
  ...rule.each(rule.text, 'endpoint', 'bucket', 'region'),
  ...rule.each(rule.text, 'accessKeyId', 'secretAccessKey', 'sessionToken'),
  credentials: rule.callable,
  pathStyle: rule.flag,
  env: rule.whatever,
}
