// With the fonts of the reader's system.
import Theme from 'vitepress/theme-without-fonts'
import './site.css'

export default Theme
