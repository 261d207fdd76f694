import { test } from 'vitest'
import { said } from './said.ts'

test('random models answer as their documents say, and take what these allow', () => said(10))
