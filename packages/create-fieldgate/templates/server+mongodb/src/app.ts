/**
 * The app with its database. The command `fieldgate` takes this file: `npx fieldgate check ./src/app.ts`.
 *
 * @module
 */

import { mongoStore } from 'fieldgate/mongodb'
import { configOrExit } from './config.ts'
import { makeApp } from './make-app.ts'

export const config = configOrExit()
export const app = makeApp(mongoStore({ url: config.DATABASE_URL }), config, { accessLog: true })
