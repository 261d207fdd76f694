import { document } from '../../src/openapi/document.ts'
import { servedOptions, versionIn } from '../../src/openapi/openapi.ts'
import { command, type Run, Unusable } from './command.ts'

const USAGE = `Prints the OpenAPI document of your app. The app does not start, so its database need not run.

  fieldgate openapi <module> [--version 3.1] [--title <title>] [--api-version <version>]

  <module>       the file that exports your app: export const app = createApp({ … })
  --version      the version of OpenAPI: 3.2 (default), or 3.1, which has no QUERY operations
  --title        the name of the API. Default: that of openapi() in your app, else API
  --api-version  the version of the API. Default: that of openapi() in your app, else 1.0

Exit codes: 0 the document is printed, 2 it could not be made.`

export const openapi: Run = command({
  usage: USAGE,
  names: ['version', 'title', 'api-version'],
  async run({ values }, open) {
    const of = versionIn(values.version)
    if (!of) throw new Unusable(`--version is 3.2 or 3.1, not '${values.version}'`)
    const { app, host } = await open('none')
    const served = servedOptions(host)
    const title = values.title ?? served?.title ?? 'API'
    const version = values['api-version'] ?? served?.version ?? '1.0'
    const made = document(app, { ...served, title, version }, of)
    console.log(JSON.stringify(made, null, 2))
    return 0
  },
})
