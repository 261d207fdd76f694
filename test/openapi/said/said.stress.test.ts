import { test } from 'vitest'
import { runs } from '../../runs.ts'
import { said } from './said.ts'

const MODELS = runs(100)

test(`${MODELS} random models answer as their documents say, and take what these allow`, () =>
  said(MODELS))
