/**
 * The app of now, as the command `fieldgate` takes it; with the argument `serve` it serves on a free port and says
 * which.
 *
 * @module
 */

import { serve } from '../../../adapters/runtimes/node.ts'
import { citiesAt } from './cities.ts'

export const app = citiesAt(process.env.CITIES ?? '')

if (process.argv[2] === 'serve') {
  const { url } = await serve(app, { port: 0, hostname: '127.0.0.1' })
  console.log(url)
}
