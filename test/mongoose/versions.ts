/**
 * The versions of Mongoose, a database for each, and an API over it.
 *
 * @module
 */

import { createRequire } from 'node:module'
import { after, describe } from 'node:test'
import { type Document, MongoClient } from 'mongodb'
import mongoose9 from 'mongoose'
import { mongoStore } from '../../adapters/stores/mongodb/index.ts'
import { type App, type AppOptions, createApp } from '../../src/index.ts'

export type Mongoose = typeof mongoose9

// Its types declare a module of another name: tsconfig.8.json checks these files with them.
const mongoose8: Mongoose = createRequire(import.meta.url)('mongoose8')

const url = process.env.MONGODB ?? ''

/** A database that a version of Mongoose and an app share. */
export interface Place {
  readonly mongoose: Mongoose
  readonly connection: ReturnType<Mongoose['createConnection']>
  readonly native: ReturnType<MongoClient['db']>
  /** An app over the database. */
  app(options?: Partial<AppOptions>): App
}

/** Defines the same tests for each version. */
export function eachVersion(define: (place: Place) => void): void {
  for (const [version, mongoose] of [
    ['Mongoose 8', mongoose8],
    ['Mongoose 9', mongoose9],
  ] as const) {
    describe(version, () => {
      const database = `zoo-${crypto.randomUUID()}`
      const client = new MongoClient(url)
      const connection = mongoose.createConnection(url, { dbName: database })
      const store = mongoStore({ url, database })
      after(async () => {
        await client.db(database).dropDatabase()
        await connection.close()
        await store.close()
        await client.close()
      })
      const app = (options = {}) => createApp({ store, logger: silent, ...options })
      define({ mongoose, connection, native: client.db(database), app })
    })
  }
}

const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** The body of a response. */
export async function json(
  app: App,
  method: string,
  path: string,
  body?: object,
): Promise<Document> {
  const headers = { 'Content-Type': 'application/json' }
  const init = body ? { method, headers, body: JSON.stringify(body) } : { method }
  return (await (await app.handle(new Request(`http://zoo${path}`, init))).json()) as Document
}
