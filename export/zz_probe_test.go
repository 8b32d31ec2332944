package export_test
import ("testing";"bytes";"time";"fmt";"slices";"strings";"github.com/agonist-dev/debate";"github.com/agonist-dev/debate/export")
func TestZZ(t *testing.T){
 d := duel().play(t)
 all := giants()
 type r struct{n string; a,b time.Duration; x float64}
 var rs []r
 for n, text := range all {
  turn := *d.Record.Turns[0]; turn.Text=text; rec := *d.Record; rec.Turns=[]*debate.Turn{&turn}
  var md, page bytes.Buffer
  b:=time.Now(); export.Markdown(&md,&rec); m:=time.Since(b); b=time.Now(); export.HTML(&page,&rec)
  rs=append(rs,r{n,m,time.Since(b),float64(md.Len()+page.Len())/float64(len(text))})
 }
 slices.SortFunc(rs,func(x,y r)int{return int(y.a+y.b-x.a-x.b)})
 for _,x:=range rs[:25]{fmt.Println(x.n,x.a,x.b,x.x)}
 _ = strings.Repeat
}
