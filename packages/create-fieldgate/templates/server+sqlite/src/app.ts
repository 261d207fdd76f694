/**
 * The app with its database. The command `fieldgate` takes this file: `npx fieldgate check ./src/app.ts`.
 *
 * @module
 */

import { sqliteStore } from 'fieldgate/sqlite'
import { configOrExit } from './config.ts'
import { makeApp } from './make-app.ts'

export const config = configOrExit()
export const app = makeApp(sqliteStore({ path: config.DATABASE }), config, { accessLog: true })
