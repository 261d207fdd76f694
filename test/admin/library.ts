/**
 * The library and a browser, for the tests of a file.
 *
 * @module
 */

import type { Page } from 'puppeteer-core'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { serve } from '../../adapters/runtimes/node.ts'
import type { App } from '../../src/index.ts'
import { type Chromium, startChromium, type Tab } from '../services/chromium.ts'
import { Book, library } from './apps.ts'
import { opened, sees, signIn } from './screens.ts'

/** An app at an address, and a browser. Begins and ends with the tests. */
export class Served {
  app!: App
  chromium!: Chromium
  /** Where the admin page is. */
  base = ''

  constructor(made: () => App | Promise<App>) {
    let server: Awaited<ReturnType<typeof serve>>
    beforeAll(async () => {
      this.app = await made()
      server = await serve(this.app, { port: 0, hostname: '127.0.0.1', signals: false })
      this.base = `${server.url}/admin`
      this.chromium = await startChromium()
    })
    afterAll(async () => {
      await this.chromium?.stop()
      await server?.close()
    })
  }
}

/** The library. */
export class Library extends Served {
  constructor() {
    super(library)
  }

  get books() {
    return this.app.store.collection(Book)
  }

  /** The book with a title. */
  async book(title: string) {
    const found = await this.books.findOne({ title })
    if (!found) throw new Error(`there is no ${title}`)
    return found
  }

  /** A window of a user of their own. */
  opened(): Promise<Tab> {
    return opened(this.chromium, this.base)
  }

  /** A window in which someone has signed in. */
  async signedIn(email: string): Promise<Tab> {
    const tab = await this.opened()
    await signIn(tab.page, email)
    await sees(tab.page, ' records')
    return tab
  }

  /** The same for one test: its page, whose browser is closed at the end. */
  async entered(email: string): Promise<Page> {
    const { page } = await this.signedIn(email)
    onTestFinished(() => page.browserContext().close())
    return page
  }
}
