/**
 * The services that tests may ask for.
 *
 * @module
 */

import { type Canaille, canaille } from './canaille.ts'
import { chromiumProgram, firefoxProgram } from './chromium.ts'
import { type Mongo, mongo } from './mongo.ts'
import {
  adminPackage,
  type Package,
  type Published,
  packageOfSources,
  publishedPackage,
} from './package.ts'
import { pgbouncer } from './pgbouncer.ts'
import { type Postgres, postgres } from './postgres.ts'
import { mongod } from './replica-set.ts'
import { type Seaweed, seaweed } from './seaweed.ts'
import { type Valkey, valkey } from './valkey.ts'

/** Each by its name. */
export interface Services {
  mongo: Mongo
  /** The program alone, for tests that start replica sets of their own. */
  mongod: { readonly program: string; stop(): Promise<void> }
  postgres: Postgres
  /** PgBouncer in transaction mode, in front of a PostgreSQL of its own. */
  pgbouncer: Postgres
  /** The program alone: each file starts a browser of its own. */
  chromium: { readonly program: string; stop(): Promise<void> }
  firefox: { readonly program: string; stop(): Promise<void> }
  valkey: Valkey
  seaweed: Seaweed
  /** An identity provider. */
  canaille: Canaille
  package: Package
  published: Published
  admin: Published
}

/** How each is started. */
export const catalogue: { readonly [Name in keyof Services]: () => Promise<Services[Name]> } = {
  mongo,
  mongod: async () => ({ program: await mongod(), stop: async () => {} }),
  postgres,
  pgbouncer,
  chromium: async () => ({ program: await chromiumProgram(), stop: async () => {} }),
  firefox: async () => ({ program: await firefoxProgram(), stop: async () => {} }),
  valkey,
  seaweed,
  canaille,
  package: packageOfSources,
  published: publishedPackage,
  admin: adminPackage,
}
