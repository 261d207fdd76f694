/**
 * The app with its database. The command `fieldgate` takes this file: `npx fieldgate check ./src/app.ts`.
 *
 * @module
 */

import { libsqlStore } from 'fieldgate/libsql'
import { configOrExit } from './config.ts'
import { makeApp } from './make-app.ts'

export const config = configOrExit()
const store = libsqlStore({ url: config.DATABASE_URL, authToken: config.DATABASE_TOKEN })
export const app = makeApp(store, config, { accessLog: true })
