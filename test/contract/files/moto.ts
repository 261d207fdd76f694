/**
 * A second S3 server for tests: moto, from its Python package. It knows ACLs of single objects, but checks no
 * signature.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { access, mkdir, rename } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { AwsClient } from 'aws4fetch'
import type { Seaweed } from '../../services/seaweed.ts'
import { freePorts, newFolder, startServer } from '../../services/server.ts'

// Without what its other services need, which is most of what its extra `server` has.
const REQUIREMENTS = ['moto[s3]==5.2.5', 'flask', 'flask-cors']
const installed = fileURLToPath(new URL('../../../.cache/services/moto-5.2.5', import.meta.url))

/** Installs the package with what it needs, once. */
async function install(): Promise<void> {
  const isThere = await access(installed).then(
    () => true,
    () => false,
  )
  if (isThere) return
  const part = `${installed}.${process.pid}`
  await mkdir(part, { recursive: true })
  const quiet = [
    '--quiet',
    '--disable-pip-version-check',
    '--no-input',
    '--root-user-action=ignore',
    '--no-compile',
  ]
  const args = ['-m', 'pip', 'install', ...quiet, '--target', part, ...REQUIREMENTS]
  await promisify(execFile)('python3', args)
  await rename(part, installed)
}

/** A moto with one empty bucket. */
export async function moto(): Promise<Seaweed> {
  await install()
  const [port] = await freePorts(1)
  const url = `http://127.0.0.1:${port}`
  const keys = { accessKeyId: 'fieldgate', secretAccessKey: 'fieldgate-tests' }
  const place = { region: 'us-east-1', bucket: 'files' }
  const client = new AwsClient({ ...keys, ...place, service: 's3', retries: 0 })
  const { stop } = await startServer({
    command: 'env',
    args: [`PYTHONPATH=${installed}`, 'python3', `${installed}/bin/moto_server`, '-p', `${port}`],
    folder: await newFolder('moto'),
    async ready() {
      const answer = await client.fetch(`${url}/${place.bucket}`, { method: 'PUT' })
      if (!answer.ok) throw new Error(`PUT ${answer.status}`)
    },
  })
  return { url, ...keys, ...place, stop }
}
