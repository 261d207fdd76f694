/**
 * fieldgate on Workers, with D1.
 *
 * @module
 */

import { worker } from '../../adapters/runtimes/workers.ts'
import { type D1Binding, d1Store } from '../../adapters/stores/sqlite/calls/d1.ts'
import { benchApp } from './app.ts'

export default worker<{ readonly DB: D1Binding }>(({ DB }) => benchApp(d1Store(DB)))
