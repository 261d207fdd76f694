/**
 * Canaille for tests: an identity provider of another language, from PyPI, with a user, a client and forms to sign in.
 *
 * @module
 */

import { fileURLToPath } from 'node:url'
import { pythonPackages } from './binary.ts'
import { freePorts, newFolder, startServer } from './server.ts'

/** A running provider. */
export interface Canaille {
  readonly issuer: string
  stop(): Promise<void>
}

/** Where its client sends people. */
export const CALLBACK = 'https://api.example.com/auth/login/oidc/company/callback'

/** Starts one; the first time, its packages are installed. */
export async function canaille(): Promise<Canaille> {
  const packages = await pythonPackages('canaille[front,oidc]==0.3.6')
  const [port] = await freePorts(1)
  const issuer = `http://127.0.0.1:${port}`
  const program = fileURLToPath(new URL('canaille.py', import.meta.url))
  const { stop } = await startServer({
    command: 'python3',
    args: [program, packages, `${port}`, CALLBACK],
    folder: await newFolder('canaille'),
    ready: async () => {
      const { ok } = await fetch(`${issuer}/.well-known/openid-configuration`)
      if (!ok) throw new Error('not yet')
    },
  })
  return { issuer, stop }
}
