/**
 * A bundled Worker on workerd, with the D1 database in a folder: `serve.ts <bundle> <folder>`
 *
 * @module
 */

import process from 'node:process'
import { workerd } from './workerd.ts'

const [, , bundle = '', folder = ''] = process.argv
const { port } = await workerd(folder, bundle).ready
console.log(`listening ${port}`)
