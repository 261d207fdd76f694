/**
 * `node .ci/programmes.ts`: prints the files of kills, races and random programmes whose day it is, each of them every third
 * day, the longest on different ones. `nightly.yml` runs all of them.
 *
 * @module
 */

import { globSync } from 'node:fs'
import { placeOf } from '../test/longest-first.ts'
import { ofToday } from '../test/runs.ts'

const files = globSync('test/**/*.stress.test.ts').sort((a, b) => placeOf(a) - placeOf(b))
console.log(ofToday(files, 3).join(' '))
