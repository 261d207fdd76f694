/**
 * The app with its database. The command `fieldgate` takes this file: `npx fieldgate check ./src/app.ts`.
 *
 * @module
 */

import { postgresStore } from 'fieldgate/postgres'
import { configOrExit } from './config.ts'
import { makeApp } from './make-app.ts'

export const config = configOrExit()
export const app = makeApp(postgresStore({ url: config.DATABASE_URL }), config, { accessLog: true })
